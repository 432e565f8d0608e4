/** Asks for the name of a new terminal, and its user. */
import { Modal, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { DialogEnd } from '../../parts/buttons.tsx';
import { UserInput } from '../user-input.tsx';
import { freeName, nameFault } from './names.ts';

interface NewTerminalProps {
  opened: boolean;
  taken: string[];
  open(name: string, user: string): void;
  close(): void;
}

export function NewTerminal({ opened, close, ...form }: NewTerminalProps) {
  return (
    <Modal
      opened={opened}
      onClose={close}
      title="New terminal"
      // The new terminal takes the focus.
      returnFocus={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {opened && <NameForm {...form} close={close} />}
    </Modal>
  );
}

function NameForm({ taken, open, close }: Omit<NewTerminalProps, 'opened'>) {
  const [name, setName] = useState(() => freeName(taken));
  const [user, setUser] = useState('');
  const [shown, setShown] = useState(false);
  const fault = taken.includes(name) ? 'A terminal of this name is open.' : nameFault(name);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setShown(true);
    if (fault !== null) return;
    open(name, user.trim());
    close();
  };
  return (
    <form className="stack" onSubmit={submit} noValidate>
      <TextInput
        label="Name"
        data-autofocus
        value={name}
        spellCheck={false}
        error={shown ? fault : null}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <UserInput value={user} onChange={({ currentTarget }) => setUser(currentTarget.value)} />
      <DialogEnd action="Open" busy={false} close={close} />
    </form>
  );
}
