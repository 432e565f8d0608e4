/**
 * Runs a command on an open SSH connection, like an editor or an agent of one's own, and measures the connection's
 * throughput. Docker has no SSH; its exec is the nearest thing, and is in the row of RunCommand.
 */
import { once } from 'node:events';
import ssh2, { type Client, type ClientChannel } from 'ssh2';
import { interleave, timed } from '../base/interleave.ts';
import type { Scenario } from '../base/scenario.ts';

const ROUNDS = 100;
const BULK_ROUNDS = 20;
const LARGE_BYTES = 100_000_000;

export const ssh: Scenario = async ({ sandhaven, rounds }) => {
  const sandbox = await sandhaven.create();
  const { host, port, username } = await sandhaven.sshAccess(sandbox);
  const client = new ssh2.Client();
  try {
    client.connect({ host, port, username });
    await once(client, 'ready');
    // As OpenSSH does; otherwise Nagle's algorithm would be measured.
    client.setNoDelay(true);
    // One after the other: a short command must not pay for the cleanup of a hundred megabytes.
    const commands = await interleave(rounds(ROUNDS), {
      sandhaven: async () => ({ sshExec: await timed(() => run(client, 'true')) }),
    });
    const bulk = await interleave(rounds(BULK_ROUNDS), {
      sandhaven: async () => {
        const ms = await timed(() => run(client, `head -c ${LARGE_BYTES} /dev/zero`, LARGE_BYTES));
        return { sshDownload: LARGE_BYTES / 1e3 / ms };
      },
    });
    return { samples: { ...commands, ...bulk } };
  } finally {
    client.end();
    await sandhaven.remove(sandbox);
  }
};

/** Resolves when the channel is closed; rejects when the exit status is not 0, or the number of bytes is wrong. */
async function run(client: Client, command: string, bytes = 0): Promise<void> {
  const channel = await new Promise<ClientChannel>((resolve, reject) => {
    client.exec(command, (error, opened) => (error ? reject(error) : resolve(opened)));
  });
  let seen = 0;
  channel.on('data', (chunk: Buffer) => {
    seen += chunk.length;
  });
  channel.stderr.resume();
  const [code] = await once(channel, 'close');
  if (code !== 0 || seen !== bytes) throw new Error(`${command}: exit status ${code}, ${seen} bytes`);
}
