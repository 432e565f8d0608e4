/** All sandboxes of the signed-in user, or of the team acted for; for an admin, everybody's too. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { counted, formatCount } from '../format/quantity.ts';
import { Empty } from '../parts/empty.tsx';
import { Icon } from '../parts/icon.tsx';
import { Loading } from '../parts/loading.tsx';
import { Page } from '../parts/page.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { sandboxesQuery } from '../service/queries.ts';
import { useSignedIn } from '../shell/signed-in.ts';
import { useActing } from '../shell/team-items.tsx';
import { BulkBar } from './bulk-bar.tsx';
import { CreateDialog } from './create/create-dialog.tsx';
import { EverybodyPage } from './everybody-page.tsx';
import { type Filter, filtered } from './filter.ts';
import { FilterBar } from './filter-bar.tsx';
import { FirstSandbox } from './first-sandbox.tsx';
import { SandboxTable } from './sandbox-table.tsx';
import { useSandboxActions } from './use-actions.tsx';
import { WhoseSwitch } from './whose-switch.tsx';

const route = getRouteApi('/sandboxes');

export function SandboxesPage() {
  const { whose } = route.useSearch();
  const { role } = useSignedIn();
  return whose === 'everybody' && role === 'admin' ? <EverybodyPage /> : <OwnSandboxes />;
}

function OwnSandboxes() {
  const filter = route.useSearch();
  const { role } = useSignedIn();
  const { viewer } = useActing();
  const navigate = route.useNavigate();
  const { data, error, isFetching, refetch } = useQuery(sandboxesQuery);
  const [creating, setCreating] = useState(false);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const actions = useSandboxActions();
  const rows = useMemo(() => filtered(data?.rows ?? [], filter), [data, filter]);
  const chosen = useMemo(() => (data?.rows ?? []).filter(({ id }) => selected.has(id)), [data, selected]);
  const setFilter = (change: Filter) => {
    void navigate({ search: change, replace: true });
  };
  if (data?.total === 0 && !viewer && filter.whose === undefined) return <FirstSandbox />;
  return (
    <Page
      title="Sandboxes"
      fill
      about={
        data && <Counts shown={rows.length} total={data.total} loaded={data.rows.length} busy={isFetching} />
      }
      actions={
        <>
          {role === 'admin' && <WhoseSwitch whose="own" />}
          <Button
            leftSection={<Icon name="plus" size={14} />}
            disabled={viewer}
            title={viewer ? 'Viewers cannot change anything.' : undefined}
            onClick={() => setCreating(true)}
          >
            New sandbox
          </Button>
        </>
      }
    >
      <FilterBar filter={filter} rows={data?.rows ?? []} change={setFilter} />
      {error !== null && (
        <ProblemPanel title="The list is not up to date" error={error} retry={() => void refetch()} />
      )}
      {!data && !error && <Loading what="sandboxes" lines={9} />}
      {data && rows.length > 0 && (
        <SandboxTable
          rows={rows}
          selected={selected}
          select={setSelected}
          act={actions.act}
          filter={filter}
          change={setFilter}
        />
      )}
      {data && rows.length === 0 && (
        <Empty icon="search" title="No sandbox matches">
          <Button variant="default" onClick={() => setFilter({})}>
            Clear the filters
          </Button>
        </Empty>
      )}
      <BulkBar chosen={chosen} clear={() => setSelected(new Set())} act={actions.act} />
      {actions.question}
      <CreateDialog opened={creating} close={() => setCreating(false)} />
    </Page>
  );
}

function Counts({
  shown,
  total,
  loaded,
  busy,
}: {
  shown: number;
  total: number;
  loaded: number;
  busy: boolean;
}) {
  const all = counted(total, 'sandbox', 'sandboxes');
  return (
    <span className="numbers" aria-live="polite">
      {shown === loaded ? all : `${formatCount(shown)} of ${all}`}
      {busy && loaded < total && `, ${formatCount(loaded)} loaded`}
    </span>
  );
}
