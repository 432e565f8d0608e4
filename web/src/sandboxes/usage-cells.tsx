/** Cells of processors and memory: the limit, and a line of the use beside it while the sandbox runs. */
import type { Sandbox } from '@sandhaven/sdk';
import { formatBytes } from '../format/quantity.ts';
import { Sparkline } from '../parts/sparkline.tsx';
import { useUsage } from '../service/usage.ts';
import classes from './sandboxes.module.css';

export function UsageCells({ row }: { row: Sandbox }) {
  const { cpu, memory, gpu } = row.resources;
  const history = useUsage(row.id);
  const now = row.state === 'started' ? history : null;
  const percent = now?.last.cpu.percent ?? null;
  const bytes = now?.last.memory.bytes ?? null;
  return (
    <>
      <div role="cell" className={`${classes['middle']} ${classes['used']}`}>
        <span>
          {cpu}
          {gpu > 0 && ` + ${gpu} GPU`}
        </span>
        {now && percent !== null && (
          <Sparkline label={`${Math.round(percent)} % in use`} values={now.cpu} most={100} />
        )}
      </div>
      <div role="cell" className={`${classes['middle']} ${classes['used']}`}>
        <span>{memory} GB</span>
        {now && bytes !== null && (
          <Sparkline label={`${formatBytes(bytes)} in use`} values={now.memory} most={100} />
        )}
      </div>
    </>
  );
}
