/**
 * A form of settings. It saves, confirms that, and asks first where a value has a consequence that it does not show.
 */
import { Button } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { Confirm } from '../parts/confirm.tsx';
import { notifyDone } from '../parts/notify.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import classes from '../sandboxes/sandboxes.module.css';

interface SettingsFormProps {
  what: string;
  disabled: boolean;
  /** Consequence that the fields do not show. */
  warning: string | null;
  save(): Promise<void>;
  children: ReactNode;
}

export function SettingsForm({ what, disabled, warning, save, children }: SettingsFormProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [asking, setAsking] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (warning === null) void run();
    else setAsking(true);
  };
  const run = async () => {
    setBusy(true);
    setError(null);
    try {
      await save();
      notifyDone(`${what} saved`);
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="stack" aria-label={what} onSubmit={submit}>
      <div className={classes['form']}>{children}</div>
      {error !== null && <ProblemPanel title="Not saved" error={error} />}
      <div className="row">
        <Button type="submit" variant="default" disabled={disabled} loading={busy}>
          {`Save ${what.toLowerCase()}`}
        </Button>
      </div>
      <Confirm
        question={
          asking && warning !== null
            ? { title: 'Save and delete?', body: warning, action: 'Save and delete', run }
            : null
        }
        close={() => setAsking(false)}
      />
    </form>
  );
}
