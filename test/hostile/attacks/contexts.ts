/** Contexts that break their channel, print and show without end, ignore interruption, and exhaust the memory, as often as they may. */
import { call } from '../../support/service.ts';
import type { Attack } from '../attack.ts';
import { keepUp } from '../wire/http-bytes.ts';

const CODES = [
  'import os\nwhile True: os.write(4, b"x" * 1_000_000)',
  'import os\nwhile True: os.write(4, b\'{"display":{"type":"display","data":{"a":"\' + b"x" * 3_000_000 + b\'"}}}\\0\')',
  'import os\nfor i in range(100_000): os.write(4, b\'{"done":{"error":null}}\\0"ready"\\0\')',
  'while True: print("x" * 100_000)',
  'for i in range(1_000_000): display(i)',
  'import signal\nsignal.signal(2, signal.SIG_IGN)\nwhile True: pass',
  'x = []\nwhile True: x.append(bytearray(8 << 20))',
  'import os\nwhile True: os.fork()',
];

export const attack: Attack = {
  name: 'contexts',
  async run({ mallory, sandbox }, signal) {
    let next = 0;
    await keepUp(8, signal, async () => {
      const index = next++;
      const context = `c${index % 12}`;
      const code = CODES[index % CODES.length];
      await call(mallory, 'RunInContext', { sandbox, code, context, restart: true, timeout_seconds: 5 });
    });
  },
};
