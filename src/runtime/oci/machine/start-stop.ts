/** Lifecycle of machines: the part of the runtime port that starts, stops, resizes and destroys them. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { growingPauses } from '../../../concurrency/patience.ts';
import type { Runtime } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import type { Archives } from '../disk/archives.ts';
import type { Trash } from '../disk/trash.ts';
import type { Owners } from '../fairness/owners.ts';
import type { ProcessorShares } from '../fairness/processor-shares.ts';
import type { Gpus } from '../gpu/gpus.ts';
import type { Layout } from '../host/layout.ts';
import { checkId, type Work } from '../host/work.ts';
import type { Authority } from '../network/egress/authority.ts';
import type { Slots } from '../network/slots-port.ts';
import type { Cgroups } from './cgroups.ts';
import type { Machines } from './running.ts';
import type { Sleep } from './sleep.ts';
import type { Starter } from './start.ts';

type Lifecycle = Pick<Runtime, 'start' | 'stop' | 'resizeLive' | 'destroy' | 'setNetwork' | 'openChannel'>;

interface Dependencies {
  layout: Layout;
  cgroups: Cgroups;
  machines: Machines;
  slots: Slots;
  gpus: Gpus;
  starter: Starter;
  sleep: Pick<Sleep, 'wake' | 'forget'>;
  archives: Pick<Archives, 'forget'>;
  trash: Pick<Trash, 'take'>;
  shares: Pick<ProcessorShares, 'forget'>;
  owners: Pick<Owners, 'forget'>;
  work: Work;
  authorityOf(id: string): Authority;
}

export function createLifecycle(parts: Dependencies): Lifecycle {
  const {
    layout,
    cgroups,
    machines,
    slots,
    gpus,
    starter,
    sleep,
    archives,
    trash,
    shares,
    owners,
    work,
    authorityOf,
  } = parts;

  async function stop(id: string, graceMs: number): Promise<void> {
    // A frozen process takes no signal but the last.
    await sleep.wake(id);
    await machines.terminate(id, graceMs);
    await machines.clear(id);
    sleep.forget(id);
    gpus.release(id);
    shares.forget(id);
    owners.forget(id);
    await slots.release(id);
  }

  return {
    start: (spec, generation, options) =>
      work.inTurn(
        spec.id,
        'The machine could not be started.',
        (signal) => starter.start(spec, generation, signal),
        options?.signal,
      ),

    stop: (id, graceMs, newest = Number.POSITIVE_INFINITY) =>
      work.inTurn(id, 'The machine could not be stopped.', async () => {
        const present = newest === Number.POSITIVE_INFINITY ? null : await machines.running(id);
        if (present === null || present.generation <= newest) await stop(id, graceMs);
      }),

    resizeLive: (id, resources) =>
      work.inTurn(id, 'The machine could not be resized.', async () => {
        if (!(await machines.running(id))) {
          const hint = 'Start the sandbox first.';
          throw new SandhavenError('unavailable', 'The machine does not run.', { hint });
        }
        await cgroups.resize(id, resources);
        shares.forget(id);
      }),

    destroy: (id) =>
      work.atOnce(id, 'The sandbox could not be removed.', async () => {
        await stop(id, 0);
        await archives.forget(id);
        await trash.take(layout.sandbox(id));
      }),

    // Waits for no turn: it may be what a caller needs to stop a machine in the middle of other work.
    setNetwork: (id, policy, uses = []) =>
      work.now(id, 'The network policy could not be put in force.', () =>
        slots.setNetwork(id, policy, uses.length === 0 ? null : { uses, authority: authorityOf(id) }),
      ),

    async openChannel(id) {
      checkId(id);
      return openSocket(layout.socket(id), () => work.busy(id));
    },
  };
}

const LONGEST_PAUSE_MS = 50;

/**
 * Connects to the agent. Retries while its connection queue is full, and while `starting` holds; fails with `unavailable`
 * after limits.agentConnectTimeoutMs.
 */
async function openSocket(path: string, starting: () => boolean): Promise<Socket> {
  const deadline = performance.now() + limits.agentConnectTimeoutMs;
  const pauses = growingPauses(LONGEST_PAUSE_MS);
  for (;;) {
    try {
      return await connectOnce(path);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      const hopeful = code === 'EAGAIN' || starting();
      if (!hopeful || performance.now() > deadline) {
        throw new SandhavenError(
          'unavailable',
          'The sandbox does not answer.',
          { hint: 'Try again, or look at its state with Sandbox.GetSandbox.' },
          error,
        );
      }
    }
    await sleep(pauses.next().value);
  }
}

function connectOnce(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path, allowHalfOpen: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}
