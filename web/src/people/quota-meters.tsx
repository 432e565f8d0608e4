/** Bars of the quotas of a user or of a team, each with its use. */
import { Meter } from '../parts/meter.tsx';
import { type QuotaKind, quotaKinds, type Used } from '../service/records.ts';

const labels: Record<QuotaKind, string> = {
  sandboxes: 'Sandboxes',
  cpu: 'vCPUs in use',
  memory: 'Memory in use',
  disk: 'Disk',
  snapshots: 'Snapshots',
};

export function QuotaMeters({ usage }: { usage: Record<QuotaKind, Used> }) {
  return quotaKinds.map((kind) => (
    <Meter
      key={kind}
      label={labels[kind]}
      used={usage[kind].used}
      limit={usage[kind].limit}
      {...(kind === 'memory' || kind === 'disk' ? { format: gigabytes } : {})}
    />
  ));
}

function gigabytes(count: number): string {
  return `${count} GB`;
}
