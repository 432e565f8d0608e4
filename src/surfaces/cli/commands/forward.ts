/** `sandhaven forward`: ports of this machine that lead to ports inside a sandbox. */
import { once } from 'node:events';
import type { SandboxView } from '../../../catalog/base/sandbox-view.ts';
import { getSandbox } from '../../../catalog/sandboxes/views.ts';
import { type Problem, SandhavenError } from '../../../model/errors.ts';
import { createClient } from '../client.ts';
import { connectionOf } from '../connection.ts';
import { commonFlags, flagIsSet, parseKnownFlags, usageError } from '../flags.ts';
import { type Forwarder, openForwarder } from '../forwarder.ts';
import { commonHelp } from '../help.ts';
import type { CliIo, Command } from '../io.ts';
import { printProblem } from '../output.ts';

const HOST = '127.0.0.1';

const help = `Usage: sandhaven forward SANDBOX [LOCAL:]PORT …

Listens on ${HOST}:LOCAL for each PORT inside the sandbox, until interrupted. LOCAL is the same as PORT unless
it is given; 0 takes a free one. It survives a restart of the service.

  sandhaven forward demo 5432
  sandhaven forward demo 8080:80 0:443 --json

${commonHelp}`;

interface Pair {
  local: number;
  port: number;
}

export const forward: Command = {
  summary: 'reach ports of a sandbox from this machine',
  shape: () => ({ takes: ['sandbox'] }),
  async run(argv, io) {
    const flags = parseKnownFlags(argv, commonFlags);
    if (flagIsSet(flags, 'help')) {
      io.stdout.write(help);
      return 0;
    }
    const [sandbox, ...ports] = [...flags.positionals, ...(flags.rest ?? [])];
    if (sandbox === undefined) throw usageError('No sandbox is named.', '`sandhaven ls` lists them.');
    if (ports.length === 0) throw usageError('Which port?', 'sandhaven forward SANDBOX [LOCAL:]PORT');
    const pairs = ports.map(parsePair);
    const json = flagIsSet(flags, 'json');
    const connection = await connectionOf(flags, io);
    const asked = await createClient(connection)(getSandbox, { sandbox }, { signal: io.signal });
    if (asked.problem) return printProblem(asked.problem, json, io);
    const { id, name, state } = asked.result as unknown as SandboxView;
    if (state !== 'started') throw notStarted(name, state);
    const forwarders: Forwarder[] = [];
    try {
      for (const { local, port } of pairs) {
        const onProblem = (problem: Problem) => void printProblem(problem, json, io);
        const listen = { host: HOST, port: local };
        forwarders.push(await openForwarder({ connection, sandbox: id, port, listen, onProblem }));
      }
      announce(name, pairs, forwarders, json, io);
      await interrupted(io.signal);
    } finally {
      await Promise.all(forwarders.map((forwarder) => forwarder.close()));
    }
    return 0;
  },
};

function announce(sandbox: string, pairs: Pair[], listening: Forwarder[], json: boolean, io: CliIo): void {
  const forwards = pairs.map(({ port }, index) => ({
    host: HOST,
    local_port: listening[index]?.port ?? 0,
    port,
  }));
  const lines = forwards.map(({ host, local_port, port }) => `${host}:${local_port} leads to port ${port}`);
  io.stdout.write(json ? `${JSON.stringify({ sandbox, forwards })}\n` : `${lines.join('\n')}\n`);
}

/** Resolves at the interrupt, the normal end of forwarding. */
export async function interrupted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

function parsePair(text: string): Pair {
  const [, local, port] = /^(?:(\d{1,5}):)?(\d{1,5})$/.exec(text) ?? [];
  const pair = { local: Number(local ?? port), port: Number(port) };
  if (port !== undefined && pair.port >= 1 && pair.port <= 65_535 && pair.local <= 65_535) return pair;
  throw usageError(
    `'${text}' is not [LOCAL:]PORT.`,
    'Ports are 1 to 65535, such as 8080:80; LOCAL may be 0.',
  );
}

function notStarted(name: string, state: string): SandhavenError {
  return new SandhavenError('invalid_state', `Sandbox '${name}' is ${state}.`, {
    parameter: 'sandbox',
    hint: `Start it with \`sandhaven start '${name}'\`.`,
  });
}
