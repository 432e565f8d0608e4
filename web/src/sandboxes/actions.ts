/** Actions that a sandbox allows, and the loss that each one brings. */

export const actionNames = ['start', 'resume', 'stop', 'pause', 'archive', 'delete'] as const;
export type ActionName = (typeof actionNames)[number];

export interface Actionable {
  id: string;
  name: string;
  state: 'started' | 'stopped' | 'archived' | 'error';
  operation?: string | undefined;
  asleep_since?: string | undefined;
  ephemeral: boolean;
  auto_delete_minutes: number;
  resources: { disk: number };
}

export const operations: Record<ActionName, string> = {
  start: 'starting',
  resume: 'waking',
  pause: 'falling asleep',
  stop: 'stopping',
  archive: 'archiving',
  delete: 'deleting',
};

export const pastTenses: Record<ActionName, string> = {
  start: 'started',
  resume: 'awake',
  pause: 'asleep',
  stop: 'stopped',
  archive: 'archived',
  delete: 'deleted',
};

export function isAllowed(action: ActionName, { state, operation, asleep_since }: Actionable): boolean {
  if (action === 'delete') return operation !== 'deleting';
  if (operation !== undefined) return false;
  if (action === 'start') return state !== 'started';
  if (action === 'stop') return state === 'started';
  if (action === 'pause') return state === 'started' && asleep_since === undefined;
  if (action === 'resume') return state === 'started' && asleep_since !== undefined;
  return state === 'stopped';
}

/** Its disk is whole, and nothing changes it as a whole. */
export function mayBeCopied({ state, operation }: Pick<Actionable, 'state' | 'operation'>): boolean {
  return state !== 'error' && operation === undefined;
}

/** A stop deletes such a sandbox. */
export function endsAtStop({ ephemeral, auto_delete_minutes }: Actionable): boolean {
  return ephemeral || auto_delete_minutes === 0;
}

export interface Loss {
  /** Those that are gone afterwards. */
  lost: Actionable[];
  /** GB of disk that go with them, at most. */
  diskGb: number;
  /** Programs end in these. */
  interrupted: Actionable[];
}

export function lossOf(action: ActionName, chosen: readonly Actionable[]): Loss {
  const lost = chosen.filter((one) => action === 'delete' || (action === 'stop' && endsAtStop(one)));
  const interrupted = chosen.filter(
    ({ state }) => (action === 'stop' || action === 'delete') && state === 'started',
  );
  return { lost, diskGb: lost.reduce((sum, { resources }) => sum + resources.disk, 0), interrupted };
}
