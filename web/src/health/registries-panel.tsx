/** Sources of images: registries, mirrors, and the images that may be pulled. */
import { useQuery } from '@tanstack/react-query';
import { Away } from '../parts/away.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Loading } from '../parts/loading.tsx';
import { Facts, Panel } from '../parts/page.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { administration } from '../service/administration.ts';

export function RegistriesPanel() {
  const { data, error } = useQuery({ queryKey: ['registries'], queryFn: administration.listRegistries });
  return (
    <Panel title="Registries of images">
      {error && <ProblemPanel title="The registries cannot be shown" error={error} />}
      {!data && !error && <Loading what="registries" lines={2} />}
      {data && (
        <>
          <Facts
            facts={[
              [
                'Images that may be pulled',
                data.allowed === null ? 'all' : data.allowed.join(', ') || 'none',
              ],
              [
                'Mirrors',
                data.mirrors.map(({ registry, mirror }) => `${registry} by ${mirror}`).join(', ') || 'none',
              ],
            ]}
          />
          {data.registries.length > 0 ? (
            <DataTable label="Credentials of registries" head={['Registry', 'User', 'Changed']}>
              {data.registries.map(({ registry, username, updated_at }) => (
                <tr key={registry}>
                  <td>{registry}</td>
                  <td>{username}</td>
                  <td>
                    <Away time={updated_at} />
                  </td>
                </tr>
              ))}
            </DataTable>
          ) : (
            <div className="dimmed">No credentials are kept; pulls are anonymous.</div>
          )}
        </>
      )}
    </Panel>
  );
}
