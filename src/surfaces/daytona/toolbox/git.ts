/** Git in a sandbox for Daytona's clients: by our Git tools, and where none does it, by git's own program. */

import { coding } from '../base/errors.ts';
import type { DaytonaRoute } from '../base/route.ts';
import { gitCode } from './git/codes.ts';
import { localRoutes } from './git/local.ts';
import { remoteRoutes } from './git/remote.ts';

export const gitRoutes: readonly DaytonaRoute[] = [...localRoutes, ...remoteRoutes].map((route) =>
  coding(route, gitCode),
);
