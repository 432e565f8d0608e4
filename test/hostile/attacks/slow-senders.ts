/** 40 bodies of 24 MiB each, announced at once and sent a byte a second. */
import type { Attack } from '../attack.ts';
import { gone, head, keepUp, open } from '../wire/http-bytes.ts';

const HEADERS = { 'content-type': 'application/json', 'content-length': 24 * 1024 * 1024 };

export const attack: Attack = {
  name: 'bodies that come a byte at a time',
  async run({ mallory }, signal) {
    await keepUp(40, signal, async () => {
      const socket = open(mallory.url);
      socket.write(`${head({ ...mallory, path: '/v1/tools/Sandbox.WriteFile', headers: HEADERS })}{`);
      socket.once('data', () => socket.destroy());
      const drip = setInterval(() => socket.write(' '), 1_000);
      await gone(socket, signal);
      clearInterval(drip);
    });
  },
};
