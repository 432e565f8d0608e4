/** The state of a session command, and the one that is looked at. */
import { State } from '../../parts/state.tsx';

export interface Chosen {
  session: string;
  command: string;
  text: string;
}

export function CommandState({ status, exitCode }: { status: string; exitCode: number | undefined }) {
  if (status !== 'completed') return <State state={status} fallback="busy" />;
  return <State state={exitCode === 0 ? 'ok' : `exit ${exitCode ?? '?'}`} />;
}
