/** Loops in as many sandboxes as a member may have running, two in each. */
import { call } from '../../support/service.ts';
import type { Attack } from '../attack.ts';

const SANDBOXES = 10;
const SPIN = 'for n in 1 2; do while :; do :; done & done; sleep 2';

export const attack: Attack = {
  name: 'ten busy sandboxes of one member',

  async run({ mallory, sandbox }, signal) {
    const size = { cpu: 2, memory_gb: 1, disk_gb: 1 };
    const made = await Promise.all(
      Array.from(
        { length: SANDBOXES - 1 },
        async () => (await call(mallory, 'CreateSandbox', size)).body['id'],
      ),
    );
    const present = [sandbox, ...made.filter((id) => id !== undefined)];
    await Promise.all(
      present.map(async (id) => {
        while (!signal.aborted) {
          // The time limit ends the whole tree, so nothing outlives the attack.
          await call(mallory, 'RunCommand', { sandbox: id, command: SPIN, timeout_seconds: 1 }).catch(
            () => {},
          );
        }
      }),
    );
    await Promise.all(made.map((id) => call(mallory, 'DeleteSandbox', { sandbox: id }).catch(() => {})));
  },
};
