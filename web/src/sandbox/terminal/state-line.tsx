/** The state of the connection, in words, with the next step. */
import { Button } from '@mantine/core';
import { ProblemPanel } from '../../parts/problem.tsx';
import { type ConnectionState, endOf } from './connection/state.ts';
import classes from './terminal.module.css';

interface StateLineProps {
  state: ConnectionState;
  /** About the output; null when there is nothing to say. */
  note: string | null;
  retry(): void;
  again(): void;
}

export function StateLine({ state, note, retry, again }: StateLineProps) {
  if (state.name === 'refused')
    return <ProblemPanel title="Not connected" error={state.error} retry={retry} />;
  return (
    <div className={classes['state']} data-state={state.name}>
      {state.name === 'connecting' && <span>Connecting …</span>}
      {state.name === 'open' && <span>{note ?? 'Connected.'}</span>}
      {state.name === 'lost' && (
        <>
          <span>
            The connection is lost; the terminal goes on, and keys are not sent. Next attempt in{' '}
            {Math.ceil(state.waitMs / 1_000)} s.
          </span>
          <Button variant="default" onClick={retry}>
            Try now
          </Button>
        </>
      )}
      {state.name === 'ended' && (
        <>
          <span>{endOf(state)}</span>
          <Button variant="default" onClick={again}>
            Open it again
          </Button>
        </>
      )}
    </div>
  );
}
