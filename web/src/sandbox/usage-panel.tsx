/** Shows the sandbox's use: live from the service's stream, or as last requested. */
import type { ReactNode } from 'react';
import { formatBytes } from '../format/quantity.ts';
import { Meter } from '../parts/meter.tsx';
import { Panel } from '../parts/page.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { useUsage } from '../service/usage.ts';
import { useSandbox } from './sandbox.ts';
import { UsageHistory } from './usage-history.tsx';

const GB = 1024 ** 3;

/** @param children Facts below. */
export function UsagePanel({ children }: { children: ReactNode }) {
  const { id, resources, usage, state } = useSandbox();
  const live = useUsage(id);
  const now = state === 'started' ? live : null;
  const cores = now?.last.cpu.cores ?? 0;
  return (
    <Panel title="Use">
      {now && (
        <>
          <Meter label="CPU" used={cores} limit={resources.cpu} format={formatCores} />
          <Sparkline
            label={`CPU of the last minutes, ${formatCores(cores)} now`}
            values={now.cpu}
            most={100}
          />
        </>
      )}
      <Meter
        label="Memory"
        used={now?.last.memory.bytes ?? usage.memory_bytes ?? 0}
        limit={resources.memory * GB}
        format={formatBytes}
      />
      {now && (
        <Sparkline
          label={`Memory of the last minutes, ${formatBytes(now.last.memory.bytes ?? 0)} now`}
          values={now.memory}
          most={100}
        />
      )}
      <Meter
        label="Disk"
        used={now?.last.disk.bytes ?? usage.disk_bytes ?? 0}
        limit={resources.disk * GB}
        format={formatBytes}
      />
      <UsageHistory />
      {children}
    </Panel>
  );
}

function formatCores(cores: number): string {
  return `${Number(cores.toFixed(2))} vCPU`;
}
