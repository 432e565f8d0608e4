/** A line of input for a program that runs. */
import { Button, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { ProblemPanel } from '../parts/problem.tsx';

interface InputFormProps {
  what: string;
  send(line: string): Promise<unknown>;
  close?(): Promise<unknown>;
}

export function InputForm({ what, send, close }: InputFormProps) {
  const [input, setInput] = useState('');
  const { mutate, isPending, error } = useMutation({
    mutationFn: (act: () => Promise<unknown>) => act(),
    onSuccess: () => setInput(''),
  });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        mutate(() => send(input));
      }}
    >
      <div className="row">
        <TextInput
          className="grow"
          aria-label="Line of input"
          placeholder={`Input for the ${what}`}
          value={input}
          spellCheck={false}
          autoComplete="off"
          onChange={({ currentTarget }) => setInput(currentTarget.value)}
        />
        <Button type="submit" variant="default" loading={isPending}>
          Send
        </Button>
        {close && (
          <Button variant="default" disabled={isPending} onClick={() => mutate(close)}>
            Close input
          </Button>
        )}
      </div>
      {error && <ProblemPanel title="Not sent" error={error} />}
    </form>
  );
}
