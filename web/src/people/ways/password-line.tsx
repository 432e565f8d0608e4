/** The password of the signed-in user: its age, and its changes. */
import { Button } from '@mantine/core';
import { Away } from '../../parts/away.tsx';

interface PasswordLineProps {
  changedAt: string | null;
  /** false: the service takes no passwords, and an existing one does not sign in. */
  isTaken: boolean;
  /** true: the user has a passkey, so the password does not sign in. */
  hasPasskey: boolean;
  set(): void;
  remove(): void;
}

export function PasswordLine({ changedAt, isTaken, hasPasskey, set, remove }: PasswordLineProps) {
  if (!isTaken && changedAt === null) return null;
  return (
    <div className="row">
      <span className="grow">
        {changedAt === null ? (
          'No password.'
        ) : (
          <>
            Password, set <Away time={changedAt} />.
          </>
        )}{' '}
        {hasPasskey && 'It does not sign in while you have a passkey.'}
      </span>
      {isTaken && (
        <Button variant="default" onClick={set}>
          {changedAt === null ? 'Set a password' : 'Change the password'}
        </Button>
      )}
      {changedAt !== null && (
        <Button variant="subtle" color="red" c="var(--mantine-color-error)" onClick={remove}>
          Remove the password
        </Button>
      )}
    </div>
  );
}
