/** A route of this surface. */
import type { Log } from '../../../control/ports/index.ts';
import type { Upgrades } from '../../http/base/upgrades.ts';
import type { CallParts, DaytonaCall } from './call.ts';

export interface DaytonaRoute {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the root of its API, in fastify's form. */
  path: string;
  /** Of a success; 200 without it. */
  status?: number;
  /** Returns the body of the answer; undefined for none; also where it has sent the answer itself. */
  handler(call: DaytonaCall): Promise<unknown>;
}

export interface DaytonaDependencies extends CallParts {
  log: Log;
  upgrades: Upgrades;
}

/** Header by which their clients send the token of a preview. */
export const PREVIEW_TOKEN_HEADER = 'x-daytona-preview-token';

/** Roots of the two APIs: control of sandboxes, and work inside one, whose id follows. */
export const CONTROL = '/daytona/api';
export const TOOLBOX = '/daytona/toolbox';
