/** Asks for one text: the name of a passkey, or a password. */
import { Modal, PasswordInput, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { DialogEnd } from '../../parts/buttons.tsx';
import { ProblemPanel } from '../../parts/problem.tsx';

export interface TextQuestion {
  title: string;
  label: string;
  description: string;
  action: string;
  isPassword?: boolean;
  initial?: string;
  save(text: string): Promise<void>;
}

export function TextDialog({ question, close }: { question: TextQuestion; close(): void }) {
  const { title, label, description, action, isPassword = false, initial = '', save } = question;
  const [text, setText] = useState(initial);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await save(isPassword ? text : text.trim());
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  };
  const field = {
    ...{ label, description, required: true, 'data-autofocus': true, value: text },
    onChange: ({ currentTarget }: { currentTarget: HTMLInputElement }) => setText(currentTarget.value),
  };
  return (
    <Modal opened onClose={close} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        {isPassword ? (
          <PasswordInput
            {...field}
            autoComplete="new-password"
            visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
          />
        ) : (
          <TextInput {...field} maxLength={100} />
        )}
        {error !== null && <ProblemPanel title="This did not work" error={error} />}
        <DialogEnd action={action} busy={busy} disabled={text.trim() === ''} close={close} />
      </form>
    </Modal>
  );
}
