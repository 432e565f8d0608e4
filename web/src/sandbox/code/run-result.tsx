/** The outcome of a run: its status, its output and its charts. */
import type { RunCodeResult } from '@sandhaven/sdk';
import { useMemo, useState } from 'react';
import { formatMs } from '../../format/quantity.ts';
import { State } from '../../parts/state.tsx';
import { BlobImage } from '../blob-image.tsx';
import { Output, type Stream, StreamChoice } from '../output.tsx';
import classes from '../sandbox.module.css';

export type Ran = Pick<
  RunCodeResult,
  'output' | 'stdout' | 'stderr' | 'exit_code' | 'timed_out' | 'truncated' | 'duration_ms' | 'charts'
>;

export function RunResult({ ran }: { ran: Ran }) {
  const [stream, setStream] = useState<Stream>('output');
  const end = ran.timed_out
    ? 'ended at its time limit'
    : ran.exit_code === 0
      ? 'ok'
      : `exit ${ran.exit_code}`;
  return (
    <div className="stack">
      <div className="row" role="status">
        <State state={end} />
        <span className="dimmed numbers">{formatMs(ran.duration_ms)}</span>
        {ran.truncated && <span className="dimmed">The middle of the output is left out.</span>}
        <span className="grow" />
        <StreamChoice stream={stream} choose={setStream} />
      </div>
      <Output label="Output" text={ran[stream]} none="Nothing was printed." />
      {ran.charts.length > 0 && (
        <div className={classes['charts']}>
          {ran.charts.map((chart, index) => (
            <ChartFigure key={index} chart={chart} />
          ))}
        </div>
      )}
    </div>
  );
}

function ChartFigure({ chart }: { chart: RunCodeResult['charts'][number] }) {
  const bytes = useMemo(() => Uint8Array.from(atob(chart.png), (sign) => sign.charCodeAt(0)), [chart.png]);
  const axes = [chart.x_label && `x: ${chart.x_label}`, chart.y_label && `y: ${chart.y_label}`]
    .filter(Boolean)
    .join(', ');
  const about = `${chart.title ?? 'Chart'} (${chart.type}${axes === '' ? '' : `, ${axes}`})`;
  return (
    <figure>
      <BlobImage bytes={bytes} type="image/png" alt={about} />
      <figcaption className="dimmed small">
        {about}
        <details>
          <summary>Data</summary>
          <Output label={`Data of ${about}`} text={JSON.stringify(chart.elements, null, 1)} none="none" />
        </details>
      </figcaption>
    </figure>
  );
}
