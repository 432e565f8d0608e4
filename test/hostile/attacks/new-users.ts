/** Each call as a Linux user that the sandbox has never seen, whose account is made then, from many callers at once. */
import { call } from '../../support/service.ts';
import type { Attack } from '../attack.ts';
import { keepUp } from '../wire/http-bytes.ts';

const CALLERS = 16;

let last = 0;

export const attack: Attack = {
  name: 'users without end',
  async run({ mallory, sandbox }, signal) {
    await keepUp(CALLERS, signal, async () => {
      const user = `u${(last++).toString(36)}`;
      await call(mallory, 'RunCommand', { sandbox, user, command: 'touch ~/mine', timeout_seconds: 5 });
    });
  },
};
