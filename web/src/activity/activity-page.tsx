/** The audit log: who did what, when, and how it ended. */

import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { RefreshButton } from '../parts/buttons.tsx';
import { Empty } from '../parts/empty.tsx';
import { Icon } from '../parts/icon.tsx';
import { Loading } from '../parts/loading.tsx';
import { Page } from '../parts/page.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { administration } from '../service/administration.ts';
import { usersQuery } from '../service/queries.ts';
import type { AuditPage } from '../service/records.ts';
import { useSignedIn } from '../shell/signed-in.ts';
import { ActivityTable } from './activity-table.tsx';
import { ExportMenu } from './export-menu.tsx';
import { type ActivityFilter, auditParametersOf } from './filter.ts';
import { FilterForm } from './filter-form.tsx';
import { withRows } from './live-rows.ts';
import { useLiveRows } from './use-live-rows.ts';
import { VerifyPanel } from './verify-panel.tsx';

const route = getRouteApi('/activity');
const STEP_ROWS = 200;
const MOST_ROWS = 1_000;

export function ActivityPage() {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const { role } = useSignedIn();
  const [limit, setLimit] = useState(STEP_ROWS);
  const parameters = auditParametersOf(filter, limit);
  const queries = useQueryClient();
  const { data, error, refetch, isFetching, isPlaceholderData } = useQuery({
    queryKey: ['audit', parameters],
    async queryFn({ queryKey }) {
      const page = await administration.listAudit(parameters);
      // What the stream has brought meanwhile may be newer than this answer; it has passed the filter.
      const shown = queries.getQueryData<AuditPage>(queryKey)?.rows ?? [];
      return withRows(page, shown, {}, { sandboxIds: new Map(), most: limit });
    },
    placeholderData: (before) => before,
  });
  useLiveRows(filter, limit);
  const users = useQuery(usersQuery).data ?? [];
  const [verifying, setVerifying] = useState(false);
  const change = (next: ActivityFilter) => void navigate({ search: next, replace: true });
  const rows = data?.rows.toReversed() ?? [];
  return (
    <Page
      title="Activity"
      about={
        role === 'admin'
          ? 'Every call of every user, newest first.'
          : 'Your calls, and visits to your sandboxes, newest first.'
      }
      actions={
        <>
          <RefreshButton busy={isFetching} refresh={refetch} />
          <ExportMenu filter={filter} />
          {role === 'admin' && (
            <Button
              variant="default"
              leftSection={<Icon name="check" size={14} />}
              onClick={() => setVerifying(true)}
            >
              Verify
            </Button>
          )}
        </>
      }
    >
      <FilterForm
        key={JSON.stringify(filter)}
        filter={filter}
        users={users.map(({ user_id, name }) => ({ value: user_id, label: name }))}
        change={change}
      />
      {verifying && <VerifyPanel close={() => setVerifying(false)} />}
      {error && <ProblemPanel title="The log cannot be read" error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading what="the log" lines={10} />}
      {data && rows.length === 0 && (
        <Empty icon="activity" title="No call matches">
          <Button variant="default" onClick={() => change({})}>
            Clear the filters
          </Button>
        </Empty>
      )}
      {rows.length > 0 && <ActivityTable rows={rows} users={users} dimmed={isPlaceholderData} />}
      {rows.length === limit && limit < MOST_ROWS && (
        <div>
          <Button variant="default" loading={isFetching} onClick={() => setLimit(MOST_ROWS)}>
            Show up to {MOST_ROWS} rows
          </Button>
        </div>
      )}
    </Page>
  );
}
