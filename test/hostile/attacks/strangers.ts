/** More connections without a key than the service takes: silent ones, and ones whose headers never end. */
import type { Attack } from '../attack.ts';
import { gone, keepUp, open } from '../wire/http-bytes.ts';

const CONNECTIONS = 5_000;

export const attack: Attack = {
  name: 'connections of strangers',
  async run({ mallory }, signal) {
    let next = 0;
    await keepUp(CONNECTIONS, signal, async () => {
      const socket = open(mallory.url);
      const silent = next++ % 2 === 0;
      if (!silent) socket.write('GET /v1/tools HTTP/1.1\r\nhost: localhost\r\nx-slow: ');
      await gone(socket, signal);
    });
  },
};
