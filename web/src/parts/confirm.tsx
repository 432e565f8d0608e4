/** Asks before what cannot be undone, and names what is lost. */
import { Button, Modal } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { ProblemPanel } from './problem.tsx';

export interface Question {
  title: string;
  /** Names the loss. */
  body: ReactNode;
  /** The verb and its object: "Delete 3 sandboxes". */
  action: string;
  danger?: boolean;
  run(): Promise<unknown>;
}

export function Confirm({ question, close }: { question: Question | null; close: () => void }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const end = () => {
    setError(null);
    close();
  };
  const run = async () => {
    if (!question) return;
    setBusy(true);
    setError(null);
    try {
      await question.run();
      end();
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal
      opened={question !== null}
      onClose={end}
      title={question?.title}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <div className="stack">
        <div className="break">{question?.body}</div>
        {error !== null && <ProblemPanel title="This did not work" error={error} />}
        <div className="row" style={{ justifyContent: 'flex-end' }}>
          <Button variant="default" onClick={end} data-autofocus>
            Cancel
          </Button>
          <Button
            color={question?.danger === false ? 'accent' : 'red'}
            loading={busy}
            onClick={() => void run()}
          >
            {question?.action}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
