/** All routes of the control API. */
import type { DaytonaRoute } from '../base/route.ts';
import { accessRoutes } from './access.ts';
import { configRoutes } from './config.ts';
import { createRoutes } from './create.ts';
import { listRoutes } from './list.ts';
import { networkRoutes } from './network.ts';
import { notHereRoutes } from './not-here.ts';
import { sandboxSecretRoutes } from './sandbox-secrets.ts';
import { sandboxRoutes } from './sandboxes.ts';
import { secretRoutes } from './secrets.ts';
import { snapshotRoutes } from './snapshots.ts';

export const controlRoutes: readonly DaytonaRoute[] = [
  ...configRoutes,
  ...createRoutes,
  ...listRoutes,
  ...sandboxRoutes,
  ...networkRoutes,
  ...accessRoutes,
  ...snapshotRoutes,
  ...secretRoutes,
  ...sandboxSecretRoutes,
  ...notHereRoutes,
];
