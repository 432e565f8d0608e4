/** As many busy loops as the sandbox may have processes for. */
import { call } from '../../support/service.ts';
import type { Attack } from '../attack.ts';

const LOOPS = 200;

export const attack: Attack = {
  name: 'busy loops',
  async run({ mallory, sandbox }, signal) {
    const command = `for i in $(seq ${LOOPS}); do (while :; do :; done) & done; wait`;
    while (!signal.aborted) await call(mallory, 'RunCommand', { sandbox, command, timeout_seconds: 2 });
  },
};
