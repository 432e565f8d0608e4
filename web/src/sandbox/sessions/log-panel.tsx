/** The log of one session command, as it grows, and a line of input for it. */
import { Button, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { CopyIcon } from '../../parts/copy.tsx';
import { Panel } from '../../parts/page.tsx';
import { ProblemPanel } from '../../parts/problem.tsx';
import { client } from '../../service/client.ts';
import { Output } from '../output.tsx';
import { type Chosen, CommandState } from './command-state.tsx';
import { useLog } from './use-log.ts';

export function LogPanel({ sandbox, chosen, ended }: { sandbox: string; chosen: Chosen; ended(): void }) {
  const { output, status, exitCode, cut, error } = useLog(sandbox, chosen.session, chosen.command, ended);
  const end = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the output as it grows
  useEffect(() => {
    // Returns nothing: newer browsers return a promise, which React would call as the end of the effect.
    void end.current?.scrollIntoView({ block: 'nearest' });
  }, [output]);
  return (
    <Panel
      title="Log"
      actions={
        <>
          {status !== null && <CommandState status={status} exitCode={exitCode} />}
          <CopyIcon text={output} label="Copy the log" />
        </>
      }
    >
      <code className="break">{chosen.text}</code>
      {cut && <div className="dimmed small">A part of this long log is left out.</div>}
      {error !== null && <ProblemPanel title="The log cannot be read" error={error} />}
      <Output
        label="Output of the command"
        text={output}
        none={status === 'completed' ? 'It printed nothing.' : 'Nothing is printed yet.'}
      >
        <div ref={end} />
      </Output>
      {status === 'running' && <InputForm sandbox={sandbox} chosen={chosen} />}
    </Panel>
  );
}

function InputForm({ sandbox, chosen }: { sandbox: string; chosen: Chosen }) {
  const [input, setInput] = useState('');
  const send = useMutation({
    mutationFn: () =>
      client.sendSessionInput({ sandbox, session_id: chosen.session, command_id: chosen.command, input }),
    onSuccess: () => setInput(''),
  });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        send.mutate();
      }}
    >
      <div className="row">
        <TextInput
          className="grow"
          aria-label="Line of input"
          placeholder="Input for the command"
          value={input}
          spellCheck={false}
          autoComplete="off"
          onChange={({ currentTarget }) => setInput(currentTarget.value)}
        />
        <Button type="submit" variant="default" loading={send.isPending}>
          Send
        </Button>
      </div>
      {send.error && <ProblemPanel title="Not sent" error={send.error} />}
    </form>
  );
}
