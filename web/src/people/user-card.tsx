/** One user: the identity, and the use of each quota. */
import { Button, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Confirm, type Question } from '../parts/confirm.tsx';
import { notifyDone, notifyFailed } from '../parts/notify.tsx';
import { State } from '../parts/state.tsx';
import { administration } from '../service/administration.ts';
import type { User } from '../service/records.ts';
import { useSignedIn } from '../shell/signed-in.ts';
import { deletionOf } from './deletion.ts';
import classes from './people.module.css';
import { QuotaMeters } from './quota-meters.tsx';

export function UserCard({ user, edit }: { user: User; edit(user: User): void }) {
  const { role, user: self } = useSignedIn();
  const queries = useQueryClient();
  const [question, setQuestion] = useState<Question | null>(null);
  const { user_id: id, name, disabled, usage } = user;
  const ask = () =>
    setQuestion({
      title: disabled ? `Enable ${name}?` : `Disable ${name}?`,
      body: disabled
        ? 'Their earlier keys work again.'
        : 'Their keys stop working, and their calls, tunnels, SSH connections and previews end. Their sandboxes stay, and stop automatically.',
      action: disabled ? 'Enable' : 'Disable',
      danger: !disabled,
      async run() {
        await (disabled ? administration.enableUser(id) : administration.disableUser(id));
        notifyDone(`${name} ${disabled ? 'enabled' : 'disabled'}`);
        await queries.invalidateQueries({ queryKey: ['users'] });
      },
    });
  const askDelete = async () => {
    try {
      const owned = await administration.deleteUser(id, false);
      const { title, body } = deletionOf(user, owned);
      let to = '';
      setQuestion({
        ...{ title, action: `Delete ${name}` },
        body: (
          <div className="stack">
            <span>{body}</span>
            {owned.sandboxes + owned.snapshots > 0 && (
              <TextInput
                label="Give sandboxes and snapshots to"
                description="Email of a user or name of a team. Empty: they are deleted."
                onChange={({ currentTarget }) => {
                  to = currentTarget.value.trim();
                }}
              />
            )}
          </div>
        ),
        async run() {
          await administration.deleteUser(id, true, to === '' ? undefined : to);
          notifyDone(`${name} deleted`);
          for (const key of ['users', 'keys', 'teams']) await queries.invalidateQueries({ queryKey: [key] });
        },
      });
    } catch (reason) {
      notifyFailed(`${name} cannot be deleted`, reason);
    }
  };
  return (
    <article className={classes['user']} data-disabled={disabled || undefined}>
      <div className="row">
        <div className="grow">
          <h2 className="break">
            {name}
            {self.id === id && <span className="dimmed"> (you)</span>}
          </h2>
          <div className="dimmed small break">{user.email}</div>
        </div>
        <span className="dimmed small">{user.role}</span>
        {disabled && <State state="disabled" />}
      </div>
      <QuotaMeters usage={usage} />
      {role === 'admin' && (
        <div className="row">
          <Button variant="default" onClick={() => edit(user)} aria-label={`Edit ${name}`}>
            Edit
          </Button>
          <Button variant="default" onClick={ask} aria-label={`${disabled ? 'Enable' : 'Disable'} ${name}`}>
            {disabled ? 'Enable' : 'Disable'}
          </Button>
          {self.id !== id && (
            <Button
              variant="subtle"
              color="red"
              c="var(--mantine-color-error)"
              onClick={() => void askDelete()}
              aria-label={`Delete ${name}`}
            >
              Delete
            </Button>
          )}
        </div>
      )}
      <Confirm question={question} close={() => setQuestion(null)} />
    </article>
  );
}
