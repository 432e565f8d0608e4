/** One sandbox: its state, its actions, and a tab for each kind of work. */
import { Button } from '@mantine/core';
import { isSandhavenError } from '@sandhaven/sdk';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet, useNavigate } from '@tanstack/react-router';
import { Empty } from '../parts/empty.tsx';
import { Icon } from '../parts/icon.tsx';
import { Loading } from '../parts/loading.tsx';
import { Page } from '../parts/page.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { State } from '../parts/state.tsx';
import { actionNames, isAllowed } from '../sandboxes/actions.ts';
import { Stops } from '../sandboxes/sandbox-row.tsx';
import { useSandboxActions } from '../sandboxes/use-actions.tsx';
import { sandboxQuery } from '../service/queries.ts';
import { useActing } from '../shell/team-items.tsx';
import { CopyActions } from './copy-actions.tsx';
import { RollbackAction } from './rollback-action.tsx';
import classes from './sandbox.module.css';
import { SandboxContext } from './sandbox.ts';

const route = getRouteApi('/sandboxes/$id');

const tabs = [
  { to: '/sandboxes/$id', label: 'Overview' },
  { to: '/sandboxes/$id/files', label: 'Files' },
  { to: '/sandboxes/$id/terminal', label: 'Terminal' },
  { to: '/sandboxes/$id/sessions', label: 'Sessions' },
  { to: '/sandboxes/$id/processes', label: 'Processes' },
  { to: '/sandboxes/$id/code', label: 'Run' },
  { to: '/sandboxes/$id/notebook', label: 'Notebook' },
  { to: '/sandboxes/$id/git', label: 'Git' },
  { to: '/sandboxes/$id/network', label: 'Network' },
  { to: '/sandboxes/$id/access', label: 'Ports and SSH' },
] as const;

const labels = {
  start: 'Start',
  resume: 'Resume',
  pause: 'Pause',
  stop: 'Stop',
  archive: 'Archive',
  delete: 'Delete',
} as const;

export function SandboxPage() {
  const { id } = route.useParams();
  const navigate = useNavigate();
  const { data: sandbox, error, refetch } = useQuery(sandboxQuery(id));
  const { act, question } = useSandboxActions();
  const { viewer } = useActing();
  if (!sandbox) {
    return (
      <Page title="Sandbox">
        {isSandhavenError(error, 'not_found') ? <Gone /> : null}
        {error && !isSandhavenError(error, 'not_found') ? (
          <ProblemPanel title="This sandbox cannot be shown" error={error} retry={() => void refetch()} />
        ) : null}
        {!error && <Loading what="the sandbox" />}
      </Page>
    );
  }
  const shown = actionNames.filter((action) => isAllowed(action, sandbox));
  return (
    <Page
      title={sandbox.name}
      fill
      about={
        <span className="row">
          <State state={sandbox.asleep_since ? 'asleep' : sandbox.state} operation={sandbox.operation} />
          {sandbox.state === 'started' && (
            <span>
              stops <Stops row={sandbox} />
            </span>
          )}
          <code>{sandbox.id}</code>
        </span>
      }
      actions={
        <>
          <CopyActions sandbox={sandbox} />
          <RollbackAction sandbox={sandbox} />
          {shown.map((action) => (
            <Button
              key={action}
              variant={action === 'start' ? 'filled' : 'default'}
              disabled={viewer}
              title={viewer ? 'Viewers cannot change anything.' : undefined}
              onClick={() =>
                act(action, [sandbox], () => action === 'delete' && void navigate({ to: '/sandboxes' }))
              }
            >
              {labels[action]}
            </Button>
          ))}
        </>
      }
    >
      <nav aria-label="Parts of the sandbox" className={classes['tabs']}>
        {tabs.map(({ to, label }) => (
          <Link
            key={to}
            to={to}
            params={{ id }}
            activeOptions={{ exact: to === '/sandboxes/$id', includeSearch: false }}
            className={classes['tab']}
          >
            {label}
          </Link>
        ))}
      </nav>
      <SandboxContext value={sandbox}>
        <div className={classes['tabBody']}>
          <Outlet />
        </div>
      </SandboxContext>
      {question}
    </Page>
  );
}

function Gone() {
  return (
    <Empty icon="search" title="This sandbox does not exist, or belongs to someone else">
      <Link to="/sandboxes">
        <Icon name="boxes" /> Your sandboxes
      </Link>
    </Empty>
  );
}
