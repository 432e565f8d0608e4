/** Asks for the name of a file or folder. */

import { Modal, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { DialogEnd } from '../../parts/buttons.tsx';
import { ProblemPanel } from '../../parts/problem.tsx';
import { nameFault } from './reading/paths.ts';

export interface NameQuestion {
  title: string;
  action: string;
  name: string;
  run(name: string): Promise<void>;
}

export function NameDialog({ question, close }: { question: NameQuestion | null; close: () => void }) {
  return (
    <Modal
      opened={question !== null}
      onClose={close}
      title={question?.title}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {question && <NameForm question={question} close={close} />}
    </Modal>
  );
}

function NameForm({ question, close }: { question: NameQuestion; close: () => void }) {
  const [name, setName] = useState(question.name);
  const [shown, setShown] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const fault = nameFault(name);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setShown(true);
    if (fault !== null) return;
    setBusy(true);
    setError(null);
    try {
      await question.run(name);
      close();
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)} noValidate>
      <TextInput
        label="Name"
        data-autofocus
        value={name}
        error={shown ? fault : null}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      {error !== null && <ProblemPanel title="This did not work" error={error} />}
      <DialogEnd action={question.action} busy={busy} close={close} />
    </form>
  );
}
