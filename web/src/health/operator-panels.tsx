/** Panels for admins: room and load with their last half hour, and the doctor's findings, all kept up to date. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { formatBytes, formatMs } from '../format/quantity.ts';
import { Away } from '../parts/away.tsx';
import { Loading } from '../parts/loading.tsx';
import { Facts, Panel } from '../parts/page.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { State } from '../parts/state.tsx';
import { healthQuery } from '../service/queries.ts';
import type { Health, HealthSample } from '../service/records.ts';
import { firstOrder, inOrder } from './findings.ts';
import classes from './health.module.css';
import { useLiveHealth } from './use-live-health.ts';

export function OperatorPanels() {
  useLiveHealth();
  const { data, error, refetch } = useQuery(healthQuery);
  if (error)
    return <ProblemPanel title="The health cannot be shown" error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="the health" lines={6} />;
  return (
    <>
      <RoomPanel {...data} />
      <LoadPanel {...data} />
      {data.doctor && <DoctorPanel {...data.doctor} />}
    </>
  );
}

function RoomPanel({ capacity, sandboxes, pool, samples }: Health) {
  const { reserve_memory_bytes: memory, reserve_disk_bytes: disk } = capacity;
  return (
    <Panel title="Room">
      <Chart
        name="Free memory"
        samples={samples}
        figureOf={(one) => one.free_memory_bytes}
        format={formatBytes}
      />
      <Chart
        name="Free disk"
        samples={samples}
        figureOf={(one) => one.free_disk_bytes}
        format={formatBytes}
      />
      <Facts
        facts={[
          ['Kept in reserve', `${formatBytes(memory)} of memory, ${formatBytes(disk)} of disk`],
          ['Sandboxes', `${sandboxes.started} started of ${sandboxes.total}`],
          [
            'Paused for lack of disk space',
            sandboxes.paused === 0 ? (
              'none'
            ) : (
              <State key="paused" state={`${sandboxes.paused} paused`} fallback="error" />
            ),
          ],
          ['Warm pool', pool.max === 0 ? 'off' : `${pool.ready} ready, ${pool.min} to ${pool.max} wanted`],
          ['GPUs', `${capacity.free_gpus} free of ${capacity.gpus}`],
        ]}
      />
    </Panel>
  );
}

function LoadPanel({ samples }: Health) {
  return (
    <Panel title="The service itself">
      <Chart name="Memory" samples={samples} figureOf={(one) => one.resident_bytes} format={formatBytes} />
      <Chart
        name="Delay of the event loop"
        samples={samples}
        figureOf={(one) => one.loop_delay_ms}
        format={formatMs}
      />
    </Panel>
  );
}

interface ChartProps {
  name: string;
  samples: HealthSample[];
  figureOf(sample: HealthSample): number;
  format(value: number): string;
}

function Chart({ name, samples, figureOf, format }: ChartProps) {
  const values = samples.map(figureOf);
  const now = format(values.at(-1) ?? 0);
  return (
    <div className={classes['chart']}>
      <span>{name}</span>
      <Sparkline
        label={`${name} of the last half hour, ${now} now`}
        values={values}
        most={Math.max(...values, 1)}
      />
      <span className={`numbers ${classes['figure']}`}>{now}</span>
    </div>
  );
}

const states = { ok: 'ok', warn: 'warning', fail: 'error' } as const;

function DoctorPanel({ checked_at, findings }: NonNullable<Health['doctor']>) {
  const [names] = useState(() => firstOrder(findings));
  return (
    <Panel title="Doctor">
      <div className="dimmed small">
        Checked <Away time={checked_at} />
      </div>
      {inOrder(findings, names).map(({ name, status, found, advice }) => (
        <div key={name}>
          <div className="row">
            <span className="grow">{name}</span>
            <State state={states[status]} fallback={status === 'warn' ? 'busy' : 'error'} />
          </div>
          <div className="dimmed small break">{found}</div>
          {advice !== null && <div className="small break">{advice}</div>}
        </div>
      ))}
    </Panel>
  );
}
