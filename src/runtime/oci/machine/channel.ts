/** Connects to a machine's agent. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { growingPauses } from '../../../concurrency/patience.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';

const LONGEST_PAUSE_MS = 50;

/**
 * Retries while the agent's connection queue is full, and while `starting` holds; fails with `unavailable`
 * after limits.agentConnectTimeoutMs.
 */
export async function openSocket(path: string, starting: () => boolean): Promise<Socket> {
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
