/** Memory of the kernel that is counted for nobody: queues, connections that nobody accepts, locks. */
import { readFileSync } from 'node:fs';
import { call, must } from '../../support/service.ts';
import type { Attack } from '../attack.ts';

const KINDS = ['netlink', 'unaccepted', 'locks', 'connections', 'datagrams'];
const PROGRAM = '/workspace/kernel-memory.py';

export const attack: Attack = {
  name: 'kernel memory',
  async prepare({ mallory, sandbox }) {
    const source = new URL('../../isolation/programs/kernel-memory.py', import.meta.url);
    await must(mallory, 'WriteFile', { sandbox, path: PROGRAM, content: readFileSync(source, 'utf8') });
  },
  async run({ mallory, sandbox }, signal) {
    for (let turn = 0; !signal.aborted; turn++) {
      const command = `ulimit -n $(ulimit -Hn); python3 ${PROGRAM} ${KINDS[turn % KINDS.length]}`;
      await call(mallory, 'RunCommand', { sandbox, command, timeout_seconds: 5 });
    }
  },
};
