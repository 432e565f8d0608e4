/** Calls of both APIs that this service does not have, each with a sentence of its own. */
import type { DaytonaRoute } from './base/call.ts';
import { NotHere } from './base/errors.ts';

type Call = `${DaytonaRoute['method']} /${string}`;

const ofControl: [reason: string, ...calls: Call[]][] = [
  [
    'There are no volumes here: keep files in a sandbox, which has its disk until it is deleted.',
    ...(['POST /volumes', 'GET /volumes/:id', 'DELETE /volumes/:id', 'GET /volumes/by-name/:name'] as const),
  ],
  [
    'Only the operator has sandboxes made ahead of time here, and they serve every creation by themselves.',
    ...(['GET /warm-pools', 'POST /warm-pools', 'PATCH /warm-pools/:id', 'DELETE /warm-pools/:id'] as const),
  ],
  [
    'A fork does not know here which sandbox it was made of.',
    ...(['GET /sandbox/:sandbox/forks', 'GET /sandbox/:sandbox/parent'] as const),
    'GET /sandbox/:sandbox/ancestors',
  ],
  [
    'A backup of a sandbox cannot be asked for here; archive one that is stopped.',
    'POST /sandbox/:sandbox/backup',
  ],
  [
    'A sandbox cannot be paused here: stop it, which keeps its files and ends its processes.',
    ...(['POST /sandbox/:sandbox/pause', 'POST /sandbox/:sandbox/autopause/:interval'] as const),
  ],
  [
    'Nothing is kept of what a sandbox used here; the toolbox shows its use now.',
    ...(['GET /sandbox/:sandbox/telemetry/metrics', 'GET /sandbox/:sandbox/telemetry/logs'] as const),
    ...(['GET /sandbox/:sandbox/telemetry/traces', 'GET /sandbox/:sandbox/telemetry/traces/:trace'] as const),
  ],
  [
    'This service builds no images, so there are no logs of a build.',
    ...(['GET /sandbox/:sandbox/build-logs', 'GET /sandbox/:sandbox/build-logs-url'] as const),
    ...(['GET /snapshots/:snapshot/build-logs', 'GET /snapshots/:snapshot/build-logs-url'] as const),
  ],
  ['This service builds no images, so it takes no files for them.', 'GET /object-storage/push-access'],
  ['A snapshot is active until it is deleted here.', 'POST /snapshots/:snapshot/deactivate'],
];

/** Whole parts of the toolbox. */
const ofToolbox: Record<string, string> = {
  '/lsp/*': 'There are no language servers here: start one in a session.',
  '/computeruse/*': 'There is no desktop here, nor a recording of one.',
  '/env': 'The environment of a sandbox that is there cannot be changed: give it to each call.',
  '/init': 'A sandbox here needs no token of its own.',
};

const methods = ['GET', 'POST', 'PUT', 'DELETE'] as const;

export const notInControl: readonly DaytonaRoute[] = ofControl.flatMap(([reason, ...calls]) =>
  calls.map((call) => {
    const [method = '', path = ''] = call.split(' ');
    return refused(method as DaytonaRoute['method'], path, reason);
  }),
);

export const notInToolbox: readonly DaytonaRoute[] = Object.entries(ofToolbox).flatMap(([path, reason]) =>
  methods.map((method) => refused(method, path, reason)),
);

function refused(method: DaytonaRoute['method'], path: string, reason: string): DaytonaRoute {
  return {
    ...{ method, path },
    async handler() {
      throw new NotHere(reason);
    },
  };
}
