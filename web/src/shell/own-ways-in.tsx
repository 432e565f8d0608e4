/** Signs in with a passkey, and with a password where the service takes them: nothing where it offers neither. */
import { Button, PasswordInput, TextInput } from '@mantine/core';
import { browserSupportsWebAuthn } from '@simplewebauthn/browser';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Icon } from '../parts/icon.tsx';
import { waysQuery } from '../service/queries.ts';
import { signInByPasskey, signInByPassword } from '../service/ways.ts';
import type { WayProps } from './key-sign-in.tsx';

export function OwnWaysIn({ busy, attempt }: WayProps) {
  const { data } = useQuery(waysQuery);
  const ways = data?.ways ?? [];
  return (
    <>
      {ways.includes('passkey') && browserSupportsWebAuthn() && (
        <Button
          variant="default"
          size="sm"
          fullWidth
          loading={busy}
          leftSection={<Icon name="key" size={14} />}
          onClick={() => void attempt(signInByPasskey)}
        >
          Sign in with a passkey
        </Button>
      )}
      {ways.includes('password') && <PasswordForm busy={busy} attempt={attempt} />}
    </>
  );
}

function PasswordForm({ busy, attempt }: WayProps) {
  const [user, setUser] = useState('');
  const [password, setPassword] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void attempt(() => signInByPassword(user.trim(), password));
  };
  return (
    <form className="stack" onSubmit={submit}>
      <TextInput
        label="Email or name"
        value={user}
        onChange={({ currentTarget }) => setUser(currentTarget.value)}
        autoComplete="username"
        required
        withAsterisk={false}
        size="sm"
      />
      <PasswordInput
        label="Password"
        description="Without effect for users who have a passkey"
        value={password}
        onChange={({ currentTarget }) => setPassword(currentTarget.value)}
        autoComplete="current-password"
        required
        withAsterisk={false}
        visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
        size="sm"
      />
      <Button type="submit" variant="default" size="sm" loading={busy} fullWidth>
        Sign in with a password
      </Button>
    </form>
  );
}
