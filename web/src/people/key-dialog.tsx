/** Makes a key and shows it once. */

import { Button, Modal, Select, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { DialogEnd } from '../parts/buttons.tsx';
import { CodeBlock } from '../parts/copy.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { administration } from '../service/administration.ts';
import type { User } from '../service/records.ts';
import { useSignedIn } from '../shell/signed-in.ts';
import { ScopeChoice } from './scope-choice.tsx';
import { offeredScopes, scopesParameter } from './scopes.ts';

const DAY_MINUTES = 1_440;
const lives = [
  { value: String(30 * DAY_MINUTES), label: '30 days' },
  { value: String(90 * DAY_MINUTES), label: '90 days' },
  { value: String(365 * DAY_MINUTES), label: 'a year' },
  { value: '0', label: 'never expires' },
];

interface KeyDialogProps {
  /** Users that an admin may choose from; without them the key is the user's own. */
  users: User[];
  /** Team that the key is bound to; none without it. */
  team?: string | null;
  close(): void;
  /** Receives the key. */
  made?(apiKey: string): void;
}

export function KeyDialog({ users, team = null, close, made }: KeyDialogProps) {
  const [key, setKey] = useState<MadeKey | null>(null);
  const take = (created: MadeKey) => {
    setKey(created);
    made?.(created.api_key);
  };
  return (
    <Modal
      opened
      onClose={close}
      title={key ? `Key ${key.name}` : 'New key'}
      // It cannot be shown again, so a click beside it does not close it.
      closeOnClickOutside={key === null}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {key ? (
        <div className="stack">
          <div role="status">
            This is the only time that the key is shown: the service keeps a hash of it.
          </div>
          <CodeBlock label="key" text={key.api_key} />
          <div className="row" style={{ justifyContent: 'flex-end' }}>
            <Button onClick={close}>I have it</Button>
          </div>
        </div>
      ) : (
        <KeyForm users={users} team={team} close={close} take={take} />
      )}
    </Modal>
  );
}

interface MadeKey {
  name: string;
  api_key: string;
}

interface KeyFormProps {
  users: User[];
  team: string | null;
  close(): void;
  take(key: MadeKey): void;
}

function KeyForm({ users, team, close, take }: KeyFormProps) {
  const { role, user, scopes: mine } = useSignedIn();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [owner, setOwner] = useState(user.id);
  const [minutes, setMinutes] = useState(lives[1]?.value ?? '0');
  const [isLimited, setIsLimited] = useState(mine !== null);
  const [chosen, setChosen] = useState<string[]>([]);
  const ownerRole = users.find(({ user_id }) => user_id === owner)?.role ?? role;
  const offered = offeredScopes(mine, { role: ownerRole, isTeam: team !== null });
  const scopes = offered.filter((scope) => chosen.includes(scope));
  const make = useMutation({
    mutationFn: () =>
      administration.createKey({
        ...{ name: name.trim(), expires_in_minutes: Number(minutes) },
        ...scopesParameter(isLimited, scopes),
        ...(owner === user.id ? {} : { user: owner }),
        ...(team === null ? {} : { team }),
      }),
    onSuccess(key) {
      take(key);
      return queries.invalidateQueries({ queryKey: ['keys'] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <form className="stack" onSubmit={submit}>
      <TextInput
        label="Name"
        description="What it is for"
        required
        data-autofocus
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      {role === 'admin' && users.length > 0 && (
        <Select
          label="User"
          searchable
          allowDeselect={false}
          value={owner}
          onChange={(id) => setOwner(id ?? user.id)}
          data={users.map(({ user_id, name: called, email }) => ({
            value: user_id,
            label: `${called} (${email})`,
          }))}
        />
      )}
      <Select
        label="Valid for"
        allowDeselect={false}
        value={minutes}
        onChange={(value) => setMinutes(value ?? '0')}
        data={lives}
      />
      <ScopeChoice
        {...{ offered, isLimited, mustLimit: mine !== null, limit: setIsLimited }}
        {...{ chosen: scopes, choose: setChosen }}
      />
      {make.error && <ProblemPanel title="No key was made" error={make.error} />}
      <DialogEnd
        action="Create"
        busy={make.isPending}
        disabled={isLimited && scopes.length === 0}
        close={close}
      />
    </form>
  );
}
