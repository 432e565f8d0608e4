/** As many processes as the sandbox may have, each with as many open files as it may have. */
import { call } from '../../support/service.ts';
import type { Attack } from '../attack.ts';

const PROGRAM = `
import os, time
for _ in range(2000):
    try:
        if os.fork() == 0: break
    except OSError: time.sleep(0.1)
try:
    while True: os.open('/dev/null', os.O_RDONLY)
except OSError: time.sleep(3)`;

export const attack: Attack = {
  name: 'files and processes',
  async run({ mallory, sandbox }, signal) {
    const command = `ulimit -n $(ulimit -Hn); python3 -c "${PROGRAM}"`;
    while (!signal.aborted) await call(mallory, 'RunCommand', { sandbox, command, timeout_seconds: 5 });
  },
};
