/** Browsers that are signed in as this user; each can be signed out from here. */
import { Button } from '@mantine/core';
import { isSandhavenError } from '@sandhaven/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Away } from '../parts/away.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { notifyDone, notifyFailed } from '../parts/notify.tsx';
import { Panel } from '../parts/page.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { endSignIn, listSignIns } from '../service/sign-in.ts';

const queryKey = ['sign-ins'];

export function SignInsPanel() {
  const queries = useQueryClient();
  const { data, error } = useQuery({ queryKey, queryFn: listSignIns });
  // A service without this route has nothing to show.
  if (isSandhavenError(error, 'not_found') || (!data && !error)) return null;
  const end = async (id: string) => {
    try {
      await endSignIn(id);
      notifyDone('The browser is signed out');
      await queries.invalidateQueries({ queryKey });
      await queries.invalidateQueries({ queryKey: ['sign-in'] });
    } catch (reason) {
      notifyFailed('The browser is still signed in', reason);
    }
  };
  return (
    <Panel title="Signed-in browsers">
      {error && <ProblemPanel title="The browsers cannot be shown" error={error} />}
      {data && (
        <DataTable
          label="Signed-in browsers"
          head={['Browser', 'Address', 'Signed in', 'Last used', 'Expires', 'Actions']}
        >
          {data.map((one) => (
            <tr key={one.id}>
              <td className="break">
                {one.user_agent ?? one.id}
                {one.current && <strong> (this one)</strong>}
              </td>
              <td>{one.address ?? '–'}</td>
              <td>
                <Away time={one.created_at} />
              </td>
              <td>
                <Away time={one.last_used_at} />
              </td>
              <td>
                <Away time={one.expires_at} />
              </td>
              <td>
                <Button variant="subtle" onClick={() => void end(one.id)}>
                  Sign out
                </Button>
              </td>
            </tr>
          ))}
        </DataTable>
      )}
    </Panel>
  );
}
