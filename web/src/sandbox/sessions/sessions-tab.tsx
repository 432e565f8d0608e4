/** The sessions of a sandbox: lasting shells, their commands, and the output of each. */

import { Button } from '@mantine/core';
import type { ListSessionsResult } from '@sandhaven/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Away } from '../../parts/away.tsx';
import { RefreshButton } from '../../parts/buttons.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Loading } from '../../parts/loading.tsx';
import { notifyFailed } from '../../parts/notify.tsx';
import { Panel } from '../../parts/page.tsx';
import { ProblemPanel } from '../../parts/problem.tsx';
import { client } from '../../service/client.ts';
import { NeedsStart } from '../needs-start.tsx';
import classes from '../sandbox.module.css';
import { useSandbox } from '../sandbox.ts';
import { UserInput, userOf } from '../user-input.tsx';
import { CommandForm } from './command-form.tsx';
import { type Chosen, CommandState } from './command-state.tsx';
import { LogPanel } from './log-panel.tsx';

type Session = ListSessionsResult['sessions'][number];

export function SessionsTab() {
  return (
    <NeedsStart what="Sessions">
      <Sessions />
    </NeedsStart>
  );
}

function Sessions() {
  const { id } = useSandbox();
  const queries = useQueryClient();
  const queryKey = ['inside', id, 'sessions'];
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [user, setUser] = useState('');
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => client.listSessions({ sandbox: id }, { signal }),
  });
  const refresh = () => void queries.invalidateQueries({ queryKey });
  const create = useMutation({
    mutationFn: () => client.createSession({ sandbox: id, ...userOf(user) }),
    onSuccess: refresh,
    onError: (reason) => notifyFailed('No session was made', reason),
  });
  const sessions = data?.sessions ?? [];
  const make = (
    <Button
      leftSection={<Icon name="plus" size={14} />}
      loading={create.isPending}
      onClick={() => create.mutate()}
    >
      New session
    </Button>
  );
  return (
    <div className={classes['columns']}>
      <div className={classes['column']}>
        <div className="row-end">
          {make}
          <UserInput value={user} onChange={({ currentTarget }) => setUser(currentTarget.value)} />
          <RefreshButton refresh={refresh} />
        </div>
        {error && <ProblemPanel title="Not listed" error={error} retry={() => void refetch()} />}
        {!data && !error && <Loading what="sessions" />}
        {data && sessions.length === 0 && (
          <Empty icon="terminal" title="No session is open">
            A session is a lasting shell: its directory and variables persist from one command to the next.
            Agents open them with CreateSession.
          </Empty>
        )}
        {sessions.map((session) => (
          <SessionPanel
            key={session.session_id}
            session={session}
            chosen={chosen}
            choose={setChosen}
            refresh={refresh}
          />
        ))}
      </div>
      {chosen && <LogPanel key={chosen.command} sandbox={id} chosen={chosen} ended={refresh} />}
    </div>
  );
}

interface SessionPanelProps {
  session: Session;
  chosen: Chosen | null;
  choose(chosen: Chosen): void;
  refresh(): void;
}

function SessionPanel({ session, chosen, choose, refresh }: SessionPanelProps) {
  const { session_id, created_at, recent_commands } = session;
  return (
    <Panel
      title={session_id}
      actions={
        <span className="dimmed small">
          opened <Away time={created_at} />
        </span>
      }
    >
      <CommandForm
        session={session_id}
        ran={(command, text) => {
          refresh();
          choose({ session: session_id, command, text });
        }}
      />
      <ul className={classes['plain']}>
        {recent_commands.map(({ command_id, command, status, exit_code }) => (
          <li key={command_id} className="row">
            <Button
              className="grow"
              variant={chosen?.command === command_id ? 'light' : 'subtle'}
              color="gray"
              c="var(--mantine-color-text)"
              justify="flex-start"
              title={command}
              onClick={() => choose({ session: session_id, command: command_id, text: command })}
            >
              <code className="ellipsis">{command}</code>
            </Button>
            <CommandState status={status} exitCode={exit_code} />
          </li>
        ))}
        {recent_commands.length === 0 && <li className="dimmed">No command has run yet.</li>}
      </ul>
    </Panel>
  );
}
