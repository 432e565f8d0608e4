/** The state of the service, as its interface reports it. */
import { isSandhavenError } from '@sandhaven/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { formatMs } from '../format/quantity.ts';
import { RefreshButton } from '../parts/buttons.tsx';
import { Page, Panel } from '../parts/page.tsx';
import { causeOf } from '../parts/problem.tsx';
import { State } from '../parts/state.tsx';
import classes from '../sandbox/sandbox.module.css';
import { client } from '../service/client.ts';
import { healthQuery } from '../service/queries.ts';
import { request } from '../service/request.ts';
import { useSignedIn } from '../shell/signed-in.ts';
import { OperatorPanels } from './operator-panels.tsx';
import { RegistriesPanel } from './registries-panel.tsx';
import { VersionPanel } from './version-panel.tsx';

/** An answer with the time that it took. */
async function timed<Answer>(ask: () => Promise<Answer>): Promise<{ answer: Answer; ms: number }> {
  const begun = performance.now();
  return { answer: await ask(), ms: performance.now() - begun };
}

export function HealthPage() {
  const { role } = useSignedIn();
  const alive = useQuery({
    queryKey: ['health', 'alive'],
    queryFn: () => timed(() => request('GET', '/healthz')),
    staleTime: 0,
  });
  const ready = useQuery({
    queryKey: ['health', 'ready'],
    queryFn: () => timed(() => request('GET', '/readyz')),
    staleTime: 0,
  });
  const documents = useQuery({
    queryKey: ['documents', 'databases'],
    queryFn: ({ signal }) => client.documentDb.discoverDatabases({}, { signal }),
  });
  const queries = useQueryClient();
  const all = [alive, ready, documents];
  return (
    <Page
      title="Health"
      actions={
        <RefreshButton
          label="Check again"
          busy={all.some(({ isFetching }) => isFetching)}
          refresh={() => {
            for (const { refetch } of all) void refetch();
            void queries.invalidateQueries({ queryKey: healthQuery.queryKey });
          }}
        />
      }
    >
      <div className={classes['columns']}>
        <Panel title="Service">
          <Check name="Answers" query={alive} />
          <Check name="Ready for calls" query={ready} />
          <DocumentsCheck error={documents.error} count={documents.data?.result.length} />
        </Panel>
        <VersionPanel />
        {role === 'admin' && <RegistriesPanel />}
        {role === 'admin' && <OperatorPanels />}
      </div>
    </Page>
  );
}

interface Checked {
  data: { ms: number } | undefined;
  error: unknown;
}

function Check({ name, query: { data, error } }: { name: string; query: Checked }) {
  return (
    <div className="row">
      <span className="grow">{name}</span>
      {error ? (
        <span className="break">
          <State state="error" /> {causeOf(error).detail}
        </span>
      ) : data ? (
        <span className="row">
          <span className="dimmed numbers">{formatMs(data.ms)}</span>
          <State state="ok" />
        </span>
      ) : (
        <State state="asking" fallback="busy" />
      )}
    </div>
  );
}

function DocumentsCheck({ error, count }: { error: unknown; count: number | undefined }) {
  const isAbsent = isSandhavenError(error, 'unavailable');
  return (
    <div>
      <div className="row">
        <span className="grow">Document database</span>
        {error ? (
          <State state={isAbsent ? 'not reached' : 'error'} fallback="stopped" />
        ) : (
          <State state={count === undefined ? 'asking' : 'ok'} fallback="busy" />
        )}
      </div>
      {error ? <div className="dimmed small break">{causeOf(error).detail}</div> : null}
    </div>
  );
}
