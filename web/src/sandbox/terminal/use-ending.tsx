/** Ends a terminal, after a question that names the program in it. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Question } from '../../parts/confirm.tsx';
import { notifyFailed } from '../../parts/notify.tsx';
import { administration } from '../../service/administration.ts';
import type { Terminal } from '../../service/records.ts';
import { terminalsQuery } from './queries.ts';

export function useEnding(sandbox: string, ended: (terminal: string) => void) {
  const queries = useQueryClient();
  const [question, setQuestion] = useState<Question | null>(null);
  const query = terminalsQuery(sandbox);
  const ask = async (name: string) => {
    try {
      // The program of a moment ago may have ended.
      const listed = await queries.fetchQuery({ ...query, staleTime: 0 });
      const terminal = listed.find((one) => one.terminal === name);
      if (!terminal) return ended(name);
      setQuestion({
        title: `End ${name}?`,
        body: lossOf(terminal),
        action: 'End the terminal',
        async run() {
          await administration.endTerminal(sandbox, name);
          await queries.cancelQueries(query);
          queries.setQueryData(query.queryKey, (before) => before?.filter((one) => one.terminal !== name));
          ended(name);
        },
      });
    } catch (error) {
      notifyFailed('The terminal was not ended', error);
    }
  };
  return { ask, question, close: () => setQuestion(null) };
}

function lossOf({ program, busy, viewers }: Terminal): string {
  const others = viewers > 1 ? ` Other viewers: ${viewers - 1}.` : '';
  if (!busy) return `No program but its shell runs in it.${others}`;
  return `${program === '' ? 'A program' : program} runs in it. Ending the terminal loses its unsaved work.${others}`;
}
