/** 30 clients ask for a file whose JSON is about 100 MB, over HTTP and over MCP, and never read the answer. */

import { post } from '../../support/service.ts';
import type { Attack } from '../attack.ts';
import { gone, head, keepUp, open } from '../wire/http-bytes.ts';

const CLIENTS = 30;
const FILE = '/workspace/control-characters';
/** Each is six characters of JSON. */
const MAKE = `head -c 16000000 /dev/zero | tr '\\0' '\\1' > ${FILE}`;

export const attack: Attack = {
  name: 'answers that nobody reads',
  async prepare({ mallory, sandbox }) {
    const made = await post(mallory, '/v1/tools/Sandbox.RunCommand', { sandbox, command: MAKE });
    if (made.status !== 200) throw new Error(`the file was not made: ${JSON.stringify(made.body)}`);
  },
  async run({ mallory, sandbox }, signal) {
    const parameters = { sandbox, path: FILE };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
    const requests = [
      { path: '/v1/tools/Sandbox.ReadFile', body: JSON.stringify(parameters) },
      {
        path: '/mcp',
        body: JSON.stringify({ ...call, params: { name: 'Sandbox_ReadFile', arguments: parameters } }),
      },
    ];
    let next = 0;
    await keepUp(CLIENTS, signal, async () => {
      const { path, body } = requests[next++ % requests.length] ?? { path: '', body: '' };
      const socket = open(mallory.url);
      socket.pause();
      const accept = 'application/json, text/event-stream';
      const headers = { 'content-type': 'application/json', accept, 'content-length': body.length };
      socket.write(head({ ...mallory, path, headers }) + body);
      await gone(socket, signal);
    });
  },
};
