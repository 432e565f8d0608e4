/** Follows the output of a process from the oldest byte that is kept; the SDK connects again where it was. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { client } from '../../service/client.ts';
import { OutputLog } from './output-log.ts';

/** Output is drawn no more often, however much is printed. */
const DRAW_MS = 100;

export const processesKey = (sandbox: string) => ['inside', sandbox, 'processes'];

export function useOutput(sandbox: string, process: string) {
  const queries = useQueryClient();
  const [shown, setShown] = useState(() => new OutputLog().shown());
  useEffect(() => {
    const leaving = new AbortController();
    const log = new OutputLog();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = () => {
      clearTimeout(timer);
      timer = undefined;
      if (!leaving.signal.aborted) setShown(log.shown());
    };
    const taker = (stream: 'stdout' | 'stderr') => (text: string, leftOutBytes: number) => {
      log.add(stream, text, leftOutBytes);
      timer ??= setTimeout(draw, DRAW_MS);
    };
    const follow = async () => {
      const options = { signal: leaving.signal, onStdout: taker('stdout'), onStderr: taker('stderr') };
      try {
        log.end = await client.processes.get(sandbox, process).follow(options);
      } catch (error) {
        log.error = error;
      }
      draw();
      await queries.invalidateQueries({ queryKey: processesKey(sandbox) });
    };
    void follow();
    return () => leaving.abort();
  }, [sandbox, process, queries]);
  return shown;
}
