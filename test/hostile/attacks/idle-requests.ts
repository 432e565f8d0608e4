/** 600 requests that announce a body and never send it. */
import type { Attack } from '../attack.ts';
import { gone, head, keepUp, open } from '../wire/http-bytes.ts';

const HEADERS = { 'content-type': 'application/json', 'content-length': 10 };

export const attack: Attack = {
  name: 'requests without their bodies',
  async run({ mallory }, signal) {
    await keepUp(600, signal, async () => {
      const socket = open(mallory.url);
      socket.write(head({ ...mallory, path: '/v1/tools/Sandbox.WhoAmI', headers: HEADERS }));
      socket.once('data', () => socket.destroy());
      await gone(socket, signal);
    });
  },
};
