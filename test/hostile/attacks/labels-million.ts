/** SetSandboxLabels with 1.2 million labels, four at once. */
import type { Attack } from '../attack.ts';
import { gone, head, keepUp, open } from '../wire/http-bytes.ts';

const labels = Array.from({ length: 1_200_000 }, (_, index) => `"k${index}":1`).join();

export const attack: Attack = {
  name: '1.2 million labels',
  async run({ mallory, sandbox }, signal) {
    const body = Buffer.from(`{"sandbox":"${sandbox}","labels":{${labels}}}`);
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    await keepUp(4, signal, async () => {
      const socket = open(mallory.url);
      socket.write(head({ ...mallory, path: '/v1/tools/Sandbox.SetSandboxLabels', headers }));
      socket.write(body);
      socket.once('data', () => socket.destroy());
      await gone(socket, signal);
    });
  },
};
