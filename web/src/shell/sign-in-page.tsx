/** Signs in with any way that the user has. Afterwards no script can read the sign-in. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ProblemPanel } from '../parts/problem.tsx';
import { signInQuery } from '../service/queries.ts';
import type { SignedIn } from '../service/sign-in.ts';
import { Brand } from './brand.tsx';
import { IdentityProviderButton } from './identity-provider-button.tsx';
import { KeySignIn } from './key-sign-in.tsx';
import { OwnWaysIn } from './own-ways-in.tsx';
import classes from './shell.module.css';

export function SignInPage({ refused }: { refused: unknown }) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(refused);
  useEffect(() => {
    document.title = 'Sign in · Sandhaven';
  }, []);
  const attempt = async (way: () => Promise<SignedIn>) => {
    setBusy(true);
    setError(null);
    try {
      queries.setQueryData(signInQuery.queryKey, await way());
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  };
  return (
    <main className={classes['center']}>
      <div className={classes['card']}>
        <Brand />
        <h1>Sign in</h1>
        <p className="dimmed">
          With a key of yours, or with the link that <code>sandhaven up</code> prints. The key of a new
          service is in the file <code>api-key</code> of its data directory.
        </p>
        {error !== null && error !== undefined && <ProblemPanel title="Not signed in" error={error} />}
        <IdentityProviderButton onError={setError} />
        <KeySignIn busy={busy} attempt={attempt} autoFocus />
        <OwnWaysIn busy={busy} attempt={attempt} />
      </div>
    </main>
  );
}
