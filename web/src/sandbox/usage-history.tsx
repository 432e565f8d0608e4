/** Use of the sandbox in its last hour, as small lines, and what was killed in it for want of memory. */
import { useQuery } from '@tanstack/react-query';
import { averages } from '../format/averages.ts';
import { counted, formatAway } from '../format/quantity.ts';
import { useNow } from '../parts/now.ts';
import { Sparkline } from '../parts/sparkline.tsx';
import { usageHistoryQuery } from '../service/queries.ts';
import { useSandbox } from './sandbox.ts';

const GB = 1024 ** 3;
/** Ten-second samples of one point: sixty points are an hour. */
const SAMPLES_A_POINT = 6;

export function UsageHistory() {
  const { id, resources } = useSandbox();
  const { data } = useQuery(usageHistoryQuery(id));
  const now = useNow();
  if (!data || data.samples.length === 0) return null;
  const line = (values: (number | null)[]) => averages(values, SAMPLES_A_POINT);
  return (
    <>
      <Sparkline
        label="CPU of the last hour"
        values={line(data.samples.map(({ cores }) => cores))}
        most={resources.cpu}
      />
      <Sparkline
        label="Memory of the last hour"
        values={line(data.samples.map(({ memory_bytes }) => memory_bytes))}
        most={resources.memory * GB}
      />
      <Sparkline
        label="Disk of the last hour"
        values={line(data.samples.map(({ disk_bytes }) => disk_bytes))}
        most={resources.disk * GB}
      />
      {data.out_of_memory.map(({ at, killed, process }) => (
        <div key={at} role="note">
          Out of memory {formatAway(at, now)}: {process ?? counted(killed, 'process', 'processes')} killed
        </div>
      ))}
    </>
  );
}
