/** Signs in with an API key, which the service exchanges for a cookie that scripts cannot read. */
import { Button, PasswordInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import { Icon } from '../parts/icon.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { signInQuery } from '../service/queries.ts';
import { signIn } from '../service/sign-in.ts';
import { Brand } from './brand.tsx';
import { ProviderButton } from './provider-button.tsx';
import classes from './shell.module.css';

export function SignInPage({ refused }: { refused: unknown }) {
  const queries = useQueryClient();
  const [key, setKey] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(refused);
  useEffect(() => {
    document.title = 'Sign in · Sandhaven';
  }, []);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      queries.setQueryData(signInQuery.queryKey, await signIn({ api_key: key.trim() }));
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  };
  return (
    <main className={classes['center']}>
      <form className={classes['card']} onSubmit={(event) => void submit(event)}>
        <Brand />
        <h1>Sign in</h1>
        <p className="dimmed">
          With a key of yours, or with the link that <code>sandhaven up</code> prints. The key of a new
          service is in the file <code>api-key</code> of its data directory.
        </p>
        {error !== null && error !== undefined && <ProblemPanel title="Not signed in" error={error} />}
        <ProviderButton onError={setError} />
        <PasswordInput
          label="API key"
          value={key}
          onChange={({ currentTarget }) => setKey(currentTarget.value)}
          autoComplete="current-password"
          autoFocus
          required
          withAsterisk={false}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the key' }}
          leftSection={<Icon name="key" />}
          size="sm"
        />
        <Button type="submit" size="sm" loading={busy} disabled={key.trim() === ''} fullWidth>
          Sign in
        </Button>
      </form>
    </main>
  );
}
