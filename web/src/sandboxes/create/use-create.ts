/** Creates a sandbox, puts it into the list, and shows the progress of the creation. */
import type { CreateSandboxParameters, Sandbox } from '@sandhaven/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { notifyDone } from '../../parts/notify.tsx';
import { client } from '../../service/client.ts';
import { putSandbox } from '../../service/sandbox-list.ts';

export function useCreate(done: (made: Sandbox) => void) {
  const queries = useQueryClient();
  const [progress, setProgress] = useState<string | null>(null);
  const mutation = useMutation({
    mutationFn: (parameters: CreateSandboxParameters) =>
      client.createSandbox(parameters, {
        onProgress: ({ message, done: part, total }) =>
          setProgress(
            part !== undefined && total ? `${message}, ${Math.round((part / total) * 100)} %` : message,
          ),
      }),
    onSuccess(made) {
      putSandbox(queries, made);
      void queries.invalidateQueries({ queryKey: ['users'] });
      notifyDone(`${made.name} started`);
      done(made);
    },
    onSettled: () => setProgress(null),
  });
  return {
    create: mutation.mutate,
    busy: mutation.isPending,
    error: mutation.error,
    reset: mutation.reset,
    progress,
  };
}
