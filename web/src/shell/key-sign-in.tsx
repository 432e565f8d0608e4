/** Signs in with an API key, which the service exchanges for a cookie that scripts cannot read. */
import { Button, PasswordInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Icon } from '../parts/icon.tsx';
import { type SignedIn, signIn } from '../service/sign-in.ts';

/** Carries one sign-in out, and shows its outcome. */
export interface WayProps {
  busy: boolean;
  attempt(way: () => Promise<SignedIn>): Promise<void>;
}

export function KeySignIn({ busy, attempt, autoFocus = false }: WayProps & { autoFocus?: boolean }) {
  const [key, setKey] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void attempt(() => signIn({ api_key: key.trim() }));
  };
  return (
    <form className="stack" onSubmit={submit}>
      <PasswordInput
        label="API key"
        value={key}
        onChange={({ currentTarget }) => setKey(currentTarget.value)}
        autoComplete="off"
        autoFocus={autoFocus}
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
  );
}
