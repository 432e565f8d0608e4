/** The audit log: who did what, when, and how it ended. */
import { Button, Menu, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Confirm } from '../parts/confirm.tsx';
import { Empty } from '../parts/empty.tsx';
import { Icon } from '../parts/icon.tsx';
import { Loading } from '../parts/loading.tsx';
import { Page } from '../parts/page.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { administration } from '../service/administration.ts';
import { usersQuery } from '../service/queries.ts';
import { useSignedIn } from '../shell/signed-in.ts';
import { ActivityTable } from './activity-table.tsx';
import { exportRows } from './export-rows.ts';
import { type ActivityFilter, auditParametersOf, outcomes, periods } from './filter.ts';
import { VerifyPanel } from './verify-panel.tsx';

const route = getRouteApi('/activity');
const STEP_ROWS = 200;
const MOST_ROWS = 1_000;

const periodNames = {
  '1h': 'Last hour',
  '24h': 'Last day',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
} as const;

export function ActivityPage() {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const { role } = useSignedIn();
  const [limit, setLimit] = useState(STEP_ROWS);
  const parameters = auditParametersOf(filter, limit);
  const { data, error, refetch, isFetching, isPlaceholderData } = useQuery({
    queryKey: ['audit', parameters],
    queryFn: () => administration.listAudit(parameters),
    placeholderData: (before) => before,
  });
  const users = useQuery(usersQuery).data ?? [];
  const [exporting, setExporting] = useState<'csv' | 'jsonl' | null>(null);
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
          <Button
            variant="default"
            loading={isFetching}
            leftSection={<Icon name="refresh" size={14} />}
            onClick={() => void refetch()}
          >
            Refresh
          </Button>
          <Menu>
            <Menu.Target>
              <Button variant="default" leftSection={<Icon name="download" size={14} />}>
                Export
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => setExporting('csv')}>CSV, for spreadsheets</Menu.Item>
              <Menu.Item onClick={() => setExporting('jsonl')}>JSON lines, with the hashes</Menu.Item>
            </Menu.Dropdown>
          </Menu>
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
      <Confirm
        question={
          exporting === null
            ? null
            : {
                title: 'Export the log?',
                body: 'All rows that match the filters are saved to a file on this device. They hold addresses and IDs, and no contents.',
                action: 'Export',
                danger: false,
                run: () => exportRows(exporting, filter),
              }
        }
        close={() => setExporting(null)}
      />
    </Page>
  );
}

interface FilterFormProps {
  filter: ActivityFilter;
  users: { value: string; label: string }[];
  change(filter: ActivityFilter): void;
}

function FilterForm({ filter, users, change }: FilterFormProps) {
  const { role } = useSignedIn();
  const [action, setAction] = useState(filter.action ?? '');
  const [sandbox, setSandbox] = useState(filter.sandbox ?? '');
  const set = (part: { [K in keyof ActivityFilter]: ActivityFilter[K] | undefined | null }) => {
    const next = { ...filter, action, sandbox, ...part };
    change(
      Object.fromEntries(
        Object.entries(next).filter(([, value]) => value !== undefined && value !== null && value !== ''),
      ),
    );
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    set({});
  };
  return (
    <search>
      <form className="row" onSubmit={submit}>
        <Select
          aria-label="Time"
          placeholder="Any time"
          clearable
          value={filter.since ?? null}
          onChange={(since) => set({ since: since as ActivityFilter['since'] })}
          data={periods.map((value) => ({ value, label: periodNames[value] }))}
        />
        {role === 'admin' && (
          <Select
            aria-label="User"
            placeholder="Any user"
            clearable
            searchable
            value={filter.user ?? null}
            onChange={(user) => set({ user })}
            data={users}
          />
        )}
        <TextInput
          aria-label="Action"
          placeholder="Action: Sandbox.RunCommand"
          spellCheck={false}
          value={action}
          onChange={({ currentTarget }) => setAction(currentTarget.value)}
        />
        <TextInput
          aria-label="Sandbox"
          placeholder="Sandbox: name or ID"
          spellCheck={false}
          value={sandbox}
          onChange={({ currentTarget }) => setSandbox(currentTarget.value)}
        />
        <Select
          aria-label="Outcome"
          placeholder="Any outcome"
          clearable
          value={filter.outcome ?? null}
          onChange={(outcome) => set({ outcome })}
          data={[...outcomes]}
        />
        <Button type="submit" variant="default">
          Filter
        </Button>
      </form>
    </search>
  );
}
