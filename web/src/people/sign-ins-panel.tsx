/** Browsers that are signed in as this user; each can be signed out from here. */
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Away } from '../parts/away.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { notifyDone, notifyFailed } from '../parts/notify.tsx';
import { Panel } from '../parts/page.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { endOtherSignIns, endSignIn, listSignIns } from '../service/sign-in.ts';
import { useSignedIn } from '../shell/signed-in.ts';

const queryKey = ['sign-ins'];

export function SignInsPanel() {
  const queries = useQueryClient();
  const { user } = useSignedIn();
  const { data, error } = useQuery({ queryKey, queryFn: () => listSignIns(user.id) });
  if (!data && !error) return null;
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
  const endOthers = async () => {
    try {
      const count = await endOtherSignIns();
      notifyDone(`${count} other ${count === 1 ? 'browser is' : 'browsers are'} signed out`);
      await queries.invalidateQueries({ queryKey });
    } catch (reason) {
      notifyFailed('The other browsers are still signed in', reason);
    }
  };
  const hasOthers = data?.some(({ current }) => !current);
  return (
    <Panel
      title="Signed-in browsers"
      actions={
        hasOthers && (
          <Button variant="default" onClick={() => void endOthers()}>
            Sign out all others
          </Button>
        )
      }
    >
      {error && <ProblemPanel title="The browsers cannot be shown" error={error} />}
      {data && (
        <DataTable
          label="Signed-in browsers"
          head={['Browser', 'Signed in', 'Last used', 'Expires', 'Actions']}
        >
          {data.map((one) => (
            <tr key={one.sign_in_id}>
              <td className="break">
                {one.sign_in_id}
                {one.current && <strong> (this one)</strong>}
                {one.made_by !== null && <div className="dimmed small">let in by {one.made_by}</div>}
              </td>
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
                <Button variant="subtle" onClick={() => void end(one.sign_in_id)}>
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
