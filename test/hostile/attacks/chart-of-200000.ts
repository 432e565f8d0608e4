/** What is no chart of matplotlib's on the side channel for charts: 200,000 elements, and names without end. */
import { call } from '../../support/service.ts';
import type { Attack } from '../attack.ts';

const code = `
import json, os, struct
picture = bytes.fromhex('89504e470d0a1a0a')
def send(text):
    data = struct.pack('<I', len(text)) + text + struct.pack('<I', len(picture)) + picture
    while data: data = data[os.write(4, data):]
chart = {'type': 'line', 'title': None, 'x_label': None, 'y_label': None, 'x_scale': None, 'y_scale': None}
for _ in range(5): send(json.dumps({**chart, 'elements': [1] * 200000}, separators=(',', ':')).encode())
for names in (20000, 20000, 20000, 40000, 40000):
    send(json.dumps({**chart, 'elements': [{'k%x' % at: 0} for at in range(names)]}, separators=(',', ':')).encode())
`;

export const attack: Attack = {
  name: 'charts of 200,000 elements',
  async run({ mallory, sandbox }, signal) {
    while (!signal.aborted) {
      await Promise.all(
        [0, 1, 2, 3].map(() => call(mallory, 'RunCode', { sandbox, code, timeout_seconds: 5 })),
      );
    }
  },
};
