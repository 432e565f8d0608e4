/**
 * A key from its press to its echo, in a terminal over a WebSocket and in a shell over SSH, side by side: both end at a
 * `cat` in raw mode, so that no shell's editor is measured. Docker has no terminal that goes on; nothing is beside it.
 */
import { once } from 'node:events';
import ssh2, { type ClientChannel } from 'ssh2';
import { WebSocket } from 'ws';
import { interleave, timed } from '../base/interleave.ts';
import type { Scenario } from '../base/scenario.ts';

const ROUNDS = 200;
const KEY = Buffer.from('k');
/** The line is shown as it is typed, and has the word only once the program prints it. */
const ECHO = 'stty raw -echo; echo re""ady; exec cat\r';
const READY = 'ready';

/** Types, and calls back with what is printed. */
interface Typist {
  type(bytes: Buffer): void;
  printed: (bytes: Buffer) => void;
}

export const terminal: Scenario = async ({ sandhaven, rounds }) => {
  const sandbox = await sandhaven.create();
  const client = new ssh2.Client();
  const address = `${sandhaven.url.replace(/^http/, 'ws')}/v1/sandboxes/${sandbox}/terminal?cols=80&rows=24`;
  const socket = new WebSocket(address, {
    headers: { authorization: `Bearer ${sandhaven.apiKey}` },
    ...{ perMessageDeflate: false, maxPayload: 1 << 20, handshakeTimeout: 10_000 },
  });
  try {
    await once(socket, 'open');
    const overWebSocket = typistOf(socket);
    await echoing(overWebSocket);
    const { host, port, username } = await sandhaven.sshAccess(sandbox);
    client.connect({ host, port, username });
    await once(client, 'ready');
    client.setNoDelay(true);
    const channel = await new Promise<ClientChannel>((resolve, reject) => {
      client.shell((error, opened) => (error ? reject(error) : resolve(opened)));
    });
    const overSsh = typistOf(channel);
    await echoing(overSsh);
    const samples = await interleave(rounds(ROUNDS), {
      sandhaven: async () => ({
        terminalKey: await timed(() => echo(overWebSocket)),
        sshKey: await timed(() => echo(overSsh)),
      }),
    });
    return { samples };
  } finally {
    socket.terminate();
    client.end();
    await sandhaven.remove(sandbox);
  }
};

function typistOf(connection: WebSocket | ClientChannel): Typist {
  if (connection instanceof WebSocket) {
    const typist: Typist = {
      type: (bytes) => connection.send(bytes, { binary: true }),
      printed: () => {},
    };
    connection.on('message', (bytes, isBinary) => {
      if (isBinary) typist.printed(bytes);
    });
    return typist;
  }
  const typist: Typist = { type: (bytes) => void connection.write(bytes), printed: () => {} };
  connection.on('data', (bytes: Buffer) => typist.printed(bytes));
  return typist;
}

/** Resolves when the program echoes. Between the line and the word the shell ends its mode of pasting. */
async function echoing(typist: Typist): Promise<void> {
  let text = '';
  await new Promise<void>((resolve) => {
    typist.printed = (bytes) => {
      text += bytes;
      if (text.includes(READY)) resolve();
    };
    typist.type(Buffer.from(ECHO));
  });
}

async function echo(typist: Typist): Promise<void> {
  await new Promise<void>((resolve) => {
    typist.printed = (bytes) => {
      if (bytes.includes(KEY)) resolve();
    };
    typist.type(KEY);
  });
}
