/** Follows the output of a session command: each request waits at the service until there is more output. */
import { useEffect, useRef, useState } from 'react';
import { client } from '../../service/client.ts';

export interface Log {
  output: string;
  status: string | null;
  exitCode: number | undefined;
  /** True when the beginning of a long log is left out. */
  cut: boolean;
  error: unknown;
}

const WAIT_SECONDS = 30;
const MOST_CHARS = 500_000;
/** Pause after an answer without new output, in case one comes early. */
const PAUSE_MS = 1_000;
const nothing: Log = { output: '', status: null, exitCode: undefined, cut: false, error: null };

export function useLog(sandbox: string, session: string, command: string, ended: () => void): Log {
  const [log, setLog] = useState(nothing);
  const end = useRef(ended);
  end.current = ended;
  useEffect(() => {
    const leaving = new AbortController();
    const place = { sandbox, session_id: session, command_id: command };
    void follow(place, leaving.signal, setLog).then((isEnded) => isEnded && end.current());
    return () => leaving.abort();
  }, [sandbox, session, command]);
  return log;
}

interface Place {
  sandbox: string;
  session_id: string;
  command_id: string;
}

/** @returns true when the command has ended while it was followed. */
async function follow(
  place: Place,
  signal: AbortSignal,
  set: (change: (log: Log) => Log) => void,
): Promise<boolean> {
  set(() => nothing);
  let offset = 0;
  for (let asked = 0; !signal.aborted; asked++) {
    try {
      const wait = asked === 0 ? {} : { wait_seconds: WAIT_SECONDS };
      const found = await client.getSessionCommandLogs({ ...place, offset, ...wait }, { signal });
      offset = found.next_offset ?? offset;
      set((log) => ({
        ...shortened(log.output + found.output, log.cut || found.truncated),
        ...{ status: found.status, exitCode: found.exit_code, error: null },
      }));
      if (found.status === 'completed') return asked > 0;
      if (asked > 0 && found.output === '') await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    } catch (error) {
      if (!signal.aborted) set((log) => ({ ...log, error }));
      return false;
    }
  }
  return false;
}

function shortened(output: string, cut: boolean): Pick<Log, 'output' | 'cut'> {
  return output.length <= MOST_CHARS ? { output, cut } : { output: output.slice(-MOST_CHARS), cut: true };
}
