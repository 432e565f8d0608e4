/** Runs a command in a session, in the background: its log shows how it goes. */
import { Button, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { ProblemPanel } from '../../parts/problem.tsx';
import { client } from '../../service/client.ts';
import { useSandbox } from '../sandbox.ts';

export function CommandForm({
  session,
  ran,
}: {
  session: string;
  ran(commandId: string, text: string): void;
}) {
  const { id } = useSandbox();
  const [command, setCommand] = useState('');
  const run = useMutation({
    mutationFn: (text: string) =>
      client.runSessionCommand({ sandbox: id, session_id: session, command: text, async_exec: true }),
    onSuccess({ command_id }, text) {
      setCommand('');
      ran(command_id, text);
    },
  });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (command.trim() !== '') run.mutate(command);
      }}
    >
      <div className="row">
        <TextInput
          className="grow"
          aria-label={`Command in ${session}`}
          placeholder="Command"
          spellCheck={false}
          value={command}
          onChange={({ currentTarget }) => setCommand(currentTarget.value)}
        />
        <Button type="submit" variant="default" loading={run.isPending} disabled={command.trim() === ''}>
          Run
        </Button>
      </div>
      {run.error && <ProblemPanel title="Not run" error={run.error} />}
    </form>
  );
}
