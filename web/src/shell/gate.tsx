/** Shows the page to signed-in users, and the sign-in to everybody else. */
import { Loader } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ProblemPanel } from '../parts/problem.tsx';
import { followChanges } from '../service/live.ts';
import { signInQuery } from '../service/queries.ts';
import { type SignedIn, signIn } from '../service/sign-in.ts';
import { ticket } from './arrival.ts';
import classes from './shell.module.css';
import { Shell } from './shell.tsx';
import { SignInPage } from './sign-in-page.tsx';
import { SignedInContext } from './signed-in.ts';

export function Gate() {
  const redeemed = useTicket();
  const { data, error, refetch } = useQuery({ ...signInQuery, enabled: redeemed.done });
  if (!redeemed.done || (data === undefined && !error)) return <Waiting />;
  if (error && data === undefined) {
    return (
      <main className={classes['center']}>
        <ProblemPanel title="The service does not answer" error={error} retry={() => void refetch()} />
      </main>
    );
  }
  return data ? <Inside signedIn={data} /> : <SignInPage refused={redeemed.error} />;
}

function Inside({ signedIn }: { signedIn: SignedIn }) {
  const queries = useQueryClient();
  useEffect(() => followChanges(queries), [queries]);
  return (
    <SignedInContext value={signedIn}>
      <Shell />
    </SignedInContext>
  );
}

function Waiting() {
  return (
    <main className={classes['center']}>
      <Loader size="sm" aria-label="Loading" />
    </main>
  );
}

/** A ticket works once, so it is sent once, however often this renders. */
let sent: Promise<unknown> | null = null;

function useTicket(): { done: boolean; error: unknown } {
  const [outcome, setOutcome] = useState<{ done: boolean; error: unknown }>({
    done: ticket === null,
    error: null,
  });
  const queries = useQueryClient();
  useEffect(() => {
    if (ticket === null) return;
    sent ??= signIn({ ticket });
    sent.then(
      (signedIn) => {
        queries.setQueryData(signInQuery.queryKey, signedIn as SignedIn);
        setOutcome({ done: true, error: null });
      },
      (error: unknown) => setOutcome({ done: true, error }),
    );
  }, [queries]);
  return outcome;
}
