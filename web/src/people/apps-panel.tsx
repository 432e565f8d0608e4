/** Applications that may act for this user over MCP; each can be cut off from here. */
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { placeOf } from '../authorize/scope-words.ts';
import { Away } from '../parts/away.tsx';
import { Confirm, type Question } from '../parts/confirm.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { notifyDone } from '../parts/notify.tsx';
import { Panel } from '../parts/page.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { type AuthorizedApp, listAuthorizedApps, revokeAuthorizedApp } from '../service/apps.ts';
import { useSignedIn } from '../shell/signed-in.ts';

const queryKey = ['authorized-apps'];

export function AppsPanel() {
  const queries = useQueryClient();
  const { user } = useSignedIn();
  const { data, error } = useQuery({ queryKey, queryFn: () => listAuthorizedApps(user.id) });
  const [question, setQuestion] = useState<Question | null>(null);
  if ((!data || data.length === 0) && !error) return null;
  const ask = (app: AuthorizedApp) =>
    setQuestion({
      title: `Revoke ${nameOf(app)}?`,
      body: 'Its access ends at once, and so does its work in progress. You can allow it again.',
      action: 'Revoke',
      async run() {
        await revokeAuthorizedApp(app.app_id);
        notifyDone(`${nameOf(app)} revoked`);
        await queries.invalidateQueries({ queryKey });
      },
    });
  return (
    <Panel title="Connected applications">
      {error && <ProblemPanel title="The applications cannot be shown" error={error} />}
      {data && <AppTable apps={data} revoke={ask} />}
      <Confirm question={question} close={() => setQuestion(null)} />
    </Panel>
  );
}

function AppTable({ apps, revoke }: { apps: AuthorizedApp[]; revoke(app: AuthorizedApp): void }) {
  return (
    <DataTable
      label="Connected applications"
      head={['Application', 'At', 'May', 'Allowed', 'Last used', 'Expires', 'Actions']}
    >
      {apps.map((app) => (
        <tr key={app.app_id}>
          <td className="break">{nameOf(app)}</td>
          <td className="break">{placeOf(app.redirect_host)}</td>
          <td>{app.scopes.join(', ')}</td>
          <td>
            <Away time={app.created_at} />
          </td>
          <td>
            <Away time={app.last_used_at} />
          </td>
          <td>
            <Away time={app.expires_at} />
          </td>
          <td>
            <Button
              variant="subtle"
              color="red"
              c="var(--mantine-color-error)"
              onClick={() => revoke(app)}
              aria-label={`Revoke ${nameOf(app)}`}
            >
              Revoke
            </Button>
          </td>
        </tr>
      ))}
    </DataTable>
  );
}

function nameOf({ client_name: name, redirect_host: host }: AuthorizedApp): string {
  return name ?? host;
}
