/** All that the kernel counts by user, as many as it gives, and again. */
import { readFileSync } from 'node:fs';
import { call, must } from '../../support/service.ts';
import type { Attack } from '../attack.ts';

const KINDS = ['inotify', 'queue', 'timer', 'aio'];
const PROGRAM = '/workspace/user-limits.py';

export const attack: Attack = {
  name: 'user limits',
  async prepare({ mallory, sandbox }) {
    const source = new URL('../../isolation/programs/user-limits.py', import.meta.url);
    await must(mallory, 'WriteFile', { sandbox, path: PROGRAM, content: readFileSync(source, 'utf8') });
  },
  async run({ mallory, sandbox }, signal) {
    while (!signal.aborted) {
      const command = KINDS.map((kind) => `python3 ${PROGRAM} ${kind} 1000000 2 &`).join(' ');
      await call(mallory, 'RunCommand', { sandbox, command: `${command} wait`, timeout_seconds: 5 });
    }
  },
};
