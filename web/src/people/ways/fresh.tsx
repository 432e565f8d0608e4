/** Has the user sign in once more where the service requires it, and then carries out the action. */
import { Modal } from '@mantine/core';
import { isSandhavenError } from '@sandhaven/sdk';
import { type ReactNode, useState } from 'react';
import { notifyFailed } from '../../parts/notify.tsx';
import { ProblemPanel } from '../../parts/problem.tsx';
import { actFor } from '../../service/acting-team.ts';
import type { SignedIn } from '../../service/sign-in.ts';
import { IdentityProviderButton } from '../../shell/identity-provider-button.tsx';
import { KeySignIn } from '../../shell/key-sign-in.tsx';
import { OwnWaysIn } from '../../shell/own-ways-in.tsx';
import { useSignedIn } from '../../shell/signed-in.ts';

type Action = () => Promise<unknown>;

export interface Fresh {
  /** Rejects as the action does, but for a sign-in that is too old. */
  run(action: Action): Promise<void>;
  dialog: ReactNode;
}

export function useFresh(): Fresh {
  const [waiting, setWaiting] = useState<Action | null>(null);
  const run = async (action: Action) => {
    try {
      await action();
    } catch (error) {
      if (!isTooOld(error)) throw error;
      setWaiting(() => action);
    }
  };
  const goOn = async () => {
    setWaiting(null);
    await waiting?.().catch((error: unknown) => notifyFailed('This did not work', error));
  };
  const close = () => setWaiting(null);
  return { run, dialog: waiting && <AgainDialog done={() => void goOn()} close={close} /> };
}

function isTooOld(error: unknown): boolean {
  return isSandhavenError(error, 'failed_precondition') && error.parameter === 'sign_in';
}

function AgainDialog({ done, close }: { done(): void; close(): void }) {
  const { user } = useSignedIn();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const attempt = async (way: () => Promise<SignedIn>) => {
    setBusy(true);
    setError(null);
    try {
      const again = await way();
      // Somebody else has signed in: nothing here is theirs.
      if (again.user.id !== user.id) actFor(null);
      else done();
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={close} title="Sign in once more" closeButtonProps={{ 'aria-label': 'Close' }}>
      <div className="stack">
        <div>Ways of signing in can only be changed within 15 minutes of a sign-in.</div>
        {error !== null && <ProblemPanel title="Not signed in" error={error} />}
        <IdentityProviderButton onError={setError} />
        <KeySignIn busy={busy} attempt={attempt} />
        <OwnWaysIn busy={busy} attempt={attempt} />
      </div>
    </Modal>
  );
}
