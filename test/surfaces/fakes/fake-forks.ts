/** Snapshots and forks of sandboxes in memory. A name that is taken fails. */
import type { SandboxSnapshots } from '../../../src/control/images/sandbox-snapshots.ts';
import type { Rollbacks } from '../../../src/control/lifecycle/capture.ts';
import type { Forks } from '../../../src/control/lifecycle/forks.ts';
import { notFound, SandhavenError } from '../../../src/model/errors.ts';
import { newSandboxId, newSnapshotId } from '../../../src/model/ids.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import type { Snapshot } from '../../../src/model/snapshot.ts';
import type { User } from '../../../src/model/user.ts';

interface Kept {
  sandboxes: Map<string, Sandbox>;
  snapshots: Snapshot[];
  find(caller: User, reference: string): Promise<Sandbox>;
}

export function fakeForks({ sandboxes, snapshots, find }: Kept): {
  sandboxSnapshots: Pick<SandboxSnapshots, 'take'>;
  forks: Pick<Forks, 'fork'>;
  rollbacks: Pick<Rollbacks, 'rollBack'>;
} {
  const source = (caller: User, reference?: string) =>
    find(caller, reference ?? [...sandboxes.keys()][0] ?? '');
  const taken = (name: string) => new SandhavenError('already_exists', `The name '${name}' is taken.`, {});
  return {
    sandboxSnapshots: {
      async take(caller, reference, name) {
        const {
          id,
          name: of,
          ownerId,
          image,
          imageDigest,
          entrypoint,
          resources,
          user,
          network,
        } = await source(caller, reference);
        const snapshot: Snapshot = {
          ...{ id: newSnapshotId(), ownerId: ownerId ?? '', name: name ?? `${of}-a1b2c3`, state: 'active' },
          ...{
            stateReason: null,
            image,
            imageDigest,
            entrypoint,
            resources,
            regionId: 'local',
            user,
            network,
            imageConfig: null,
          },
          ...{
            sizeBytes: 90_000_000,
            creationKey: null,
            createdAt: snapshots.length,
            updatedAt: 0,
            source: { id, name: of },
          },
        };
        if (snapshots.some((one) => one.name === snapshot.name)) throw taken(snapshot.name);
        snapshots.unshift(snapshot);
        return snapshot;
      },
    },
    forks: {
      async fork(caller, reference, { count, name = `fork-${newSandboxId().slice(-6)}` }) {
        const of = await source(caller, reference);
        return Array.from({ length: count }, (_, index) => {
          const numbered = count === 1 ? name : `${name}-${index + 1}`;
          if ([...sandboxes.values()].some((one) => one.name === numbered)) return { error: taken(numbered) };
          const own = { name: numbered, deadline: null, sleep: null };
          const sandbox: Sandbox = { ...of, id: newSandboxId(), ...own, state: 'started' };
          sandboxes.set(sandbox.id, sandbox);
          return { sandbox };
        });
      },
    },
    rollbacks: {
      async rollBack(caller, reference, wanted) {
        const sandbox = await source(caller, reference);
        const known = snapshots.some(({ id, name }) => id === wanted || name === wanted);
        if (!known) throw notFound('snapshot', `There is no snapshot '${wanted}'.`, 'Give another.');
        const started: Sandbox = { ...sandbox, state: 'started' };
        sandboxes.set(sandbox.id, started);
        return started;
      },
    },
  };
}
