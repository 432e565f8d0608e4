/** As many watches of files as there may be, over trees that change without end, whose clients never read, or leave at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from '../../support/service.ts';
import type { Attack } from '../attack.ts';
import { gone, head, keepUp, open } from '../wire/http-bytes.ts';

const WATCHES = 24;
const CHANGES = [
  'mkdir -p w && cd w && seq 1 20000 | xargs touch && rm -rf ./*',
  'mkdir -p w/t && cd w/t && seq 1 9000 | xargs mkdir; rm -rf ./*',
  'cd w && for i in $(seq 500); do mkdir -p a/b/c; mv a z$i; done; rm -rf z*',
];

export const attack: Attack = {
  name: 'file watches',
  async run({ mallory, sandbox }, signal) {
    let next = 0;
    const changing = keepUp(2, signal, async () => {
      const command = CHANGES[next++ % CHANGES.length];
      await call(mallory, 'RunCommand', { sandbox, command, timeout_seconds: 20 });
    });
    const watching = keepUp(WATCHES, signal, async () => {
      const socket = open(mallory.url);
      const path = `/v1/sandboxes/${sandbox}/files/watch?path=/&recursive=true`;
      socket.write(head({ ...mallory, path, method: 'GET' }));
      if (next % 3 === 0) socket.pause();
      else socket.resume();
      await Promise.race([gone(socket, signal), sleep(next++ % 3 === 1 ? 50 : 3_000)]);
      socket.destroy();
    });
    await Promise.all([changing, watching]);
  },
};
