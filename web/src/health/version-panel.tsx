/** Version, tools and regions of the service. */
import { useQuery } from '@tanstack/react-query';
import { Loading } from '../parts/loading.tsx';
import { Facts, Panel } from '../parts/page.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { client } from '../service/client.ts';
import { request } from '../service/request.ts';

interface Catalogue {
  tools: { name: string }[];
  toolkits: Record<string, string>;
}

interface Description {
  info: { version: string };
}

export function VersionPanel() {
  const version = useQuery({
    queryKey: ['health', 'version'],
    queryFn: async () => (await request<Description>('GET', '/openapi.json')).info.version,
  });
  const catalogue = useQuery({
    queryKey: ['health', 'tools'],
    queryFn: () => request<Catalogue>('GET', '/v1/tools'),
  });
  const regions = useQuery({ queryKey: ['health', 'regions'], queryFn: () => client.listRegions() });
  const toolkits = Object.entries(catalogue.data?.toolkits ?? {});
  return (
    <Panel title="Version">
      {version.error && <ProblemPanel title="Not known" error={version.error} />}
      {!version.data && !version.error && <Loading what="the version" lines={2} />}
      {version.data && (
        <Facts
          facts={[
            ['Sandhaven', version.data],
            ['Tools', catalogue.data?.tools.length ?? '–'],
            ...toolkits.map(([name, value]): [string, string] => [`Toolkit ${name}`, value]),
            ...(regions.data?.regions ?? []).map(({ id, name, location }): [string, string] => [
              `Region ${id}`,
              [name, location.city, location.country].filter(Boolean).join(', '),
            ]),
          ]}
        />
      )}
      <div className="dimmed small">
        <code>/openapi.json</code> describes the whole interface to every holder of a key.
      </div>
    </Panel>
  );
}
