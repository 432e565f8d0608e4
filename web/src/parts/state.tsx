/** The state of a sandbox or a snapshot: a word with a dot, so that the colour is never the only sign. */
import classes from './parts.module.css';

const tones: Record<string, string> = {
  started: 'started',
  active: 'started',
  ok: 'started',
  enabled: 'started',
  valid: 'started',
  asleep: 'archived',
  stopped: 'stopped',
  pending: 'busy',
  pulling: 'busy',
  archived: 'archived',
  error: 'error',
  cancelled: 'stopped',
  revoked: 'stopped',
  expired: 'stopped',
  disabled: 'stopped',
};

export function State({
  state,
  operation,
  fallback = 'error',
}: {
  state: string;
  operation?: string | undefined;
  fallback?: string;
}) {
  const tone = operation ? 'busy' : (tones[state] ?? fallback);
  return (
    <span className={classes['state']} data-tone={tone}>
      {operation ?? state}
    </span>
  );
}
