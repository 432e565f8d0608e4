/** The routes. Each screen is a file of its own that is loaded when it is first wanted. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { readActivityFilter } from './activity/filter.ts';
import { readFilesSearch } from './sandbox/files/reading/paths.ts';
import { readTerminalSearch } from './sandbox/terminal/names.ts';
import { readFilter } from './sandboxes/filter.ts';
import { Crashed, NotFound } from './shell/failures.tsx';
import { Gate } from './shell/gate.tsx';

const rootRoute = createRootRoute({ component: Gate });

const screen = <Path extends string>(
  path: Path,
  load: () => Promise<Record<string, unknown>>,
  name: string,
) =>
  createRoute({
    getParentRoute: () => rootRoute,
    path,
    component: lazyRouteComponent(load as never, name as never),
  });

const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/sandboxes', replace: true });
  },
});

const sandboxesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sandboxes',
  validateSearch: readFilter,
  component: lazyRouteComponent(() => import('./sandboxes/sandboxes-page.tsx'), 'SandboxesPage'),
});

const sandboxRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sandboxes/$id',
  component: lazyRouteComponent(() => import('./sandbox/sandbox-page.tsx'), 'SandboxPage'),
});

const part = <Path extends string>(path: Path, load: () => Promise<Record<string, unknown>>, name: string) =>
  createRoute({
    getParentRoute: () => sandboxRoute,
    path,
    component: lazyRouteComponent(load as never, name as never),
  });

const filesRoute = createRoute({
  getParentRoute: () => sandboxRoute,
  path: 'files',
  validateSearch: readFilesSearch,
  component: lazyRouteComponent(() => import('./sandbox/files/files-tab.tsx'), 'FilesTab'),
});

const terminalRoute = createRoute({
  getParentRoute: () => sandboxRoute,
  path: 'terminal',
  validateSearch: readTerminalSearch,
  component: lazyRouteComponent(() => import('./sandbox/terminal/terminal-tab.tsx'), 'TerminalTab'),
});

const sandboxParts = [
  part('/', () => import('./sandbox/overview-tab.tsx'), 'OverviewTab'),
  filesRoute,
  terminalRoute,
  part('sessions', () => import('./sandbox/sessions/sessions-tab.tsx'), 'SessionsTab'),
  part('processes', () => import('./sandbox/processes/processes-tab.tsx'), 'ProcessesTab'),
  part('notebook', () => import('./sandbox/notebook/notebook-tab.tsx'), 'NotebookTab'),
  part('code', () => import('./sandbox/code/code-tab.tsx'), 'CodeTab'),
  part('git', () => import('./sandbox/code/git-tab.tsx'), 'GitTab'),
  part('network', () => import('./sandbox/network/network-tab.tsx'), 'NetworkTab'),
  part('access', () => import('./sandbox/access/access-tab.tsx'), 'AccessTab'),
];

const activityRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/activity',
  validateSearch: readActivityFilter,
  component: lazyRouteComponent(() => import('./activity/activity-page.tsx'), 'ActivityPage'),
});

const routeTree = rootRoute.addChildren([
  homeRoute,
  sandboxesRoute,
  sandboxRoute.addChildren(sandboxParts),
  activityRoute,
  screen('/snapshots', () => import('./snapshots/snapshots-page.tsx'), 'SnapshotsPage'),
  screen('/people', () => import('./people/people-page.tsx'), 'PeoplePage'),
  screen('/connect', () => import('./connect/connect-page.tsx'), 'ConnectPage'),
  screen('/documents', () => import('./documents/documents-page.tsx'), 'DocumentsPage'),
  screen('/device', () => import('./authorize/device-page.tsx'), 'DevicePage'),
  screen('/authorize/$uid', () => import('./authorize/authorize-page.tsx'), 'AuthorizePage'),
  screen('/health', () => import('./health/health-page.tsx'), 'HealthPage'),
]);

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  defaultErrorComponent: Crashed,
  defaultNotFoundComponent: NotFound,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
