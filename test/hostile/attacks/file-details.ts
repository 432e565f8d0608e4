/** Details of a tree of many files with as much metadata as they may have, from many callers, some of whom never read. */
import { call, post } from '../../support/service.ts';
import type { Attack } from '../attack.ts';
import { gone, head, keepUp, open } from '../wire/http-bytes.ts';

const CALLERS = 24;
const MAKE = `
import os
for at in range(20000):
    folder = f'/workspace/tree/{at % 50}'
    os.makedirs(folder, exist_ok=True)
    path = f'{folder}/{at}'
    open(path, 'w').close()
    os.setxattr(path, 'user.note', b'x' * 1000)
`;

export const attack: Attack = {
  name: 'details of many files',
  async prepare({ mallory, sandbox }) {
    const made = await call(mallory, 'RunCommand', {
      sandbox,
      command: `python3 -c "${MAKE}"`,
      timeout_seconds: 60,
    });
    if (made.status !== 200) throw new Error(`the files were not made: ${JSON.stringify(made.body)}`);
  },
  async run({ mallory, sandbox }, signal) {
    const path = '/v1/admin/GetFileDetails';
    const details = { sandbox, path: '/workspace/tree', depth: 64, max_items: 10_000 };
    const body = JSON.stringify(details);
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`n${at}`, 'x'.repeat(100)]));
    let next = 0;
    await keepUp(CALLERS, signal, async () => {
      switch (next++ % 3) {
        case 0:
          return void (await post(mallory, path, details));
        case 1:
          return void (await post(mallory, '/v1/admin/SetFileAttributes', {
            ...{ sandbox, path: `/workspace/tree/1/1`, owner: 'root', metadata },
          }));
        default: {
          const socket = open(mallory.url);
          socket.pause();
          socket.write(head({ ...mallory, path, headers }) + body);
          await gone(socket, signal);
        }
      }
    });
  },
};
