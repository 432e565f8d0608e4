/** Parts of the toolbox that this service does not have, each with a sentence of its own. */
import { NotHere } from '../../base/errors.ts';
import type { DaytonaRoute } from '../../base/route.ts';

const reasons: Record<string, string> = {
  '/process/interpreter/*':
    'There are no contexts of an interpreter here: codeRun runs code, each time afresh.',
  '/lsp/*': 'There are no language servers here: start one in a session.',
  '/computeruse/*': 'There is no desktop here, nor a recording of one.',
  '/env': 'The environment of a sandbox that is there cannot be changed: give it to each call.',
  '/init': 'A sandbox here needs no token of its own.',
};

const methods = ['GET', 'POST', 'PUT', 'DELETE'] as const;

export const notHereRoutes: readonly DaytonaRoute[] = Object.entries(reasons).flatMap(([path, reason]) =>
  methods.map((method) => ({
    ...{ method, path },
    async handler() {
      throw new NotHere(reason);
    },
  })),
);
