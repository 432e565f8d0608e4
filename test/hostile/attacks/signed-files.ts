/** Addresses of files with signatures that are made up, by strangers, and one that is right, by visitors who never read. */
import { createHmac } from 'node:crypto';
import { must, post } from '../../support/service.ts';
import type { Attack } from '../attack.ts';
import { gone, keepUp, open } from '../wire/http-bytes.ts';

const VISITORS = 40;
const FILE = '/workspace/signed';

let right = '';

export const attack: Attack = {
  name: 'signed addresses of files',
  async prepare({ mallory, sandbox }) {
    await must(mallory, 'RunCommand', { sandbox, command: `head -c 50000000 /dev/urandom > ${FILE}` });
    const { body } = await post(mallory, '/v1/admin/GetSigningKey', { sandbox });
    const { signing_key } = body as { signing_key: string };
    const expires = Math.floor(Date.now() / 1_000) + 3_600;
    const digest = createHmac('sha256', signing_key)
      .update(`v1:files:GET:${FILE}:${expires}`)
      .digest('base64url');
    right = new URLSearchParams({
      path: FILE,
      expires: String(expires),
      signature: `v1_${digest}`,
    }).toString();
  },
  async run({ mallory, sandbox }, signal) {
    let next = 0;
    await keepUp(VISITORS, signal, async () => {
      const query = next++ % 2 === 0 ? right : right.replace(/signature=.{8}/, 'signature=v1_false');
      const socket = open(mallory.url);
      socket.pause();
      const target = `/daytona/toolbox/${sandbox}/files/download?${query}`;
      socket.write(
        `GET ${target} HTTP/1.1\r\nhost: ${new URL(mallory.url).host}\r\nconnection: close\r\n\r\n`,
      );
      await gone(socket, signal);
    });
  },
};
