/** Signs in by the team's identity provider, where the service has one: the browser goes there and comes back. */
import { Button, Divider } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { waysQuery } from '../service/queries.ts';
import { startIdentityProviderSignIn } from '../service/sign-in.ts';

/** The service refuses return paths that are too long or not its own. */
const LONGEST_PATH = 512;

export function IdentityProviderButton({ onError }: { onError: (error: unknown) => void }) {
  // Without an answer the other ways still work.
  const { data } = useQuery(waysQuery);
  const [busy, setBusy] = useState(false);
  if (!data?.provider) return null;
  const go = async () => {
    setBusy(true);
    onError(null);
    try {
      const { pathname, search } = window.location;
      const path = pathname + search;
      window.location.assign(await startIdentityProviderSignIn(path.length > LONGEST_PATH ? '/' : path));
    } catch (reason) {
      onError(reason);
      setBusy(false);
    }
  };
  return (
    <>
      <Button type="button" size="sm" loading={busy} onClick={() => void go()} fullWidth>
        Sign in with {data.provider.name}
      </Button>
      <Divider label="or with a key" labelPosition="center" />
    </>
  );
}
