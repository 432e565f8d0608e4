/**
 * As many detached processes as there may be, which print without end or read nothing, with viewers who never read, leave at
 * once, or come again, and input that nobody takes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { post } from '../../support/service.ts';
import type { Attack } from '../attack.ts';
import { gone, head, keepUp, open } from '../wire/http-bytes.ts';

const VIEWERS = 60;
const COMMANDS = ['yes', 'while :; do printf a; printf b >&2; done', 'sleep 60', 'yes & yes >&2'];
const INPUT = 'x'.repeat(60_000);

export const attack: Attack = {
  name: 'detached processes',
  async run({ mallory, sandbox }, signal) {
    const act = (name: string, parameters: object) =>
      post(mallory, `/v1/admin/${name}`, { sandbox, ...parameters });
    let pids: string[] = [];
    let next = 0;
    const starting = keepUp(2, signal, async () => {
      const command = COMMANDS[next++ % COMMANDS.length];
      const { body } = await act('StartProcess', { command, timeout_seconds: 20 });
      const { process } = body as { process?: string };
      if (process !== undefined) pids = [...pids, process].slice(-128);
    });
    const viewing = keepUp(VIEWERS, signal, async () => {
      const pid = pids[next++ % Math.max(1, pids.length)];
      if (pid === undefined) return void (await sleep(100));
      const socket = open(mallory.url);
      const path = `/v1/sandboxes/${sandbox}/processes/${pid}/output`;
      socket.write(head({ ...mallory, path, method: 'GET' }));
      if (next % 3 === 0) socket.pause();
      else socket.resume();
      const stay = next % 3 === 1 ? 50 : 3_000;
      await Promise.race([gone(socket, signal), sleep(stay)]);
      socket.destroy();
    });
    const typing = keepUp(4, signal, async () => {
      await act('SendProcessInput', {
        process: pids[next++ % Math.max(1, pids.length)] ?? '1',
        input: INPUT,
      });
    });
    await Promise.all([starting, viewing, typing]);
  },
};
