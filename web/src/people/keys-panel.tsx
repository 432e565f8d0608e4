/** API keys: made, shown once, revoked. */
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Away } from '../parts/away.tsx';
import { Confirm, type Question } from '../parts/confirm.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Icon } from '../parts/icon.tsx';
import { Loading } from '../parts/loading.tsx';
import { notifyDone } from '../parts/notify.tsx';
import { Panel } from '../parts/page.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { State } from '../parts/state.tsx';
import { administration } from '../service/administration.ts';
import { keysQuery, teamsQuery } from '../service/queries.ts';
import type { Key, User } from '../service/records.ts';
import { useSignedIn } from '../shell/signed-in.ts';
import { KeyDialog } from './key-dialog.tsx';

export function KeysPanel({ users }: { users: User[] }) {
  const { role } = useSignedIn();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery(keysQuery);
  const [making, setMaking] = useState(false);
  const [question, setQuestion] = useState<Question | null>(null);
  const ask = ({ key_id, name, email }: Key) =>
    setQuestion({
      title: `Revoke ${name}?`,
      body: `The key ${key_id} of ${email} stops working for good, and work in progress with it ends. Agents that use it need another one.`,
      action: 'Revoke',
      async run() {
        await administration.revokeKey(key_id);
        notifyDone(`${name} revoked`);
        await queries.invalidateQueries({ queryKey: ['keys'] });
      },
    });
  return (
    <Panel
      title="API keys"
      actions={
        <Button
          variant="default"
          leftSection={<Icon name="plus" size={14} />}
          onClick={() => setMaking(true)}
        >
          New key
        </Button>
      }
    >
      {error && <ProblemPanel title="The keys cannot be shown" error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading what="keys" lines={3} />}
      {data && <KeyTable keys={data} withUser={role === 'admin'} revoke={ask} />}
      {making && <KeyDialog users={users} close={() => setMaking(false)} />}
      <Confirm question={question} close={() => setQuestion(null)} />
    </Panel>
  );
}

function KeyTable({ keys, withUser, revoke }: { keys: Key[]; withUser: boolean; revoke(key: Key): void }) {
  const { data: teams = [] } = useQuery(teamsQuery);
  const names = new Map(teams.map(({ team_id, name }) => [team_id, name]));
  const head = [
    'Name',
    ...(withUser ? ['User'] : []),
    'Team',
    'State',
    'Scopes',
    'Created',
    'Expires',
    'Last used',
    'ID',
    'Actions',
  ];
  return (
    <DataTable label="API keys" head={head}>
      {keys.map((key) => (
        <tr key={key.key_id}>
          <td>
            {key.name}
            {key.created_by && (
              <div className="dimmed small">made by {key.created_by.email ?? key.created_by.user_id}</div>
            )}
          </td>
          {withUser && <td>{key.email}</td>}
          <td>{key.team_id === null ? '–' : (names.get(key.team_id) ?? <code>{key.team_id}</code>)}</td>
          <td>
            <State state={key.state} fallback="stopped" />
          </td>
          <td>{key.scopes?.join(', ') ?? 'all'}</td>
          <td>{key.created_at === null ? '–' : <Away time={key.created_at} />}</td>
          <td>
            <Away time={key.expires_at} />
          </td>
          <td>
            <Away time={key.last_used_at} />
          </td>
          <td>
            <code>{key.key_id}</code>
          </td>
          <td>
            <Button
              variant="subtle"
              color="red"
              c="var(--mantine-color-error)"
              disabled={key.revoked_at !== null}
              onClick={() => revoke(key)}
              aria-label={`Revoke ${key.name}`}
            >
              Revoke
            </Button>
          </td>
        </tr>
      ))}
    </DataTable>
  );
}
