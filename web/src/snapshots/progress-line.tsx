/** Progress of a snapshot that is being made: live, while its image is fetched and unpacked. */
import { formatBytes } from '../format/quantity.ts';
import { Meter } from '../parts/meter.tsx';
import { useSnapshotProgress } from '../service/snapshot-progress.ts';

export function ProgressLine({ id }: { id: string }) {
  const progress = useSnapshotProgress(id);
  if (progress === null) return null;
  const { message, done_bytes: done, total_bytes: total } = progress;
  if (done === null || total === null) return <div className="dimmed small break">{message}</div>;
  return <Meter label={message} used={done} limit={total} format={formatBytes} />;
}
