/**
 * `sandhaven demo-db`: a document database to try the DocumentDb tools on, in a sandbox of the service, shown on the
 * loopback of this machine as long as the command runs. Sandbox, data and passwords stay for the next time.
 */
import { once } from 'node:events';
import { defaultCacheDir } from '../runtime/images/cache-dir.ts';
import { createClient } from '../surfaces/cli/client.ts';
import { connectionOf } from '../surfaces/cli/connection.ts';
import { isTaken, openForwarder } from '../surfaces/cli/forwarder.ts';
import type { CliIo } from '../surfaces/cli/io.ts';
import { progressLine } from '../surfaces/cli/output.ts';
import { fill } from './fill.ts';
import { buildImage } from './image.ts';
import { type DemoOptions, demoHelp, parseDemoOptions } from './options.ts';
import { ensureSandbox, removeSandbox, SANDBOX } from './sandbox.ts';
import { builtServer, connectionString, imageServer, PORT, READER } from './server.ts';

/** @returns the exit status, once it is interrupted. */
export async function runDemoDb(argv: string[], io: CliIo): Promise<number> {
  const options = parseDemoOptions(argv);
  if (options.help) {
    io.stdout.write(demoHelp);
    return 0;
  }
  return options.remove ? remove(options, io) : show(options, io);
}

async function remove({ flags }: DemoOptions, io: CliIo): Promise<number> {
  const removed = await removeSandbox(createClient(await connectionOf(flags, io)));
  io.stderr.write(removed ? 'The demo database is gone.\n' : 'There is no demo database.\n');
  return 0;
}

async function show(options: DemoOptions, io: CliIo): Promise<number> {
  const { signal } = io;
  const say = (step: string) => io.stderr.write(`demo-db: ${step}\n`);
  const connection = await connectionOf(options.flags, io);
  const kind = async () => {
    if (options.image !== null) return imageServer(options.image);
    await buildImage({ signal, say });
    return builtServer(defaultCacheDir());
  };
  const { id, passwords } = await ensureSandbox(createClient(connection), kind, { signal, say });
  // Until the server listens, and when the service is away: a driver tries again by itself.
  const onProblem = () => {};
  const forwarder = await listen(options, (address) =>
    openForwarder({ connection, sandbox: id, port: PORT, listen: address, onProblem }),
  );
  try {
    const address = { host: forwarder.host, port: forwarder.port };
    const line = progressLine(io);
    const { collections, loaded } = await fill({
      address,
      passwords,
      documents: options.documents,
      makesReader: options.image === null,
      signal,
      say,
      onProgress: (done, total) => line.show({ message: 'loading documents', done, total }),
    }).finally(line.clear);
    const count = Object.values(collections).reduce((sum, each) => sum + each, 0);
    say(`${count} documents ${loaded ? 'loaded' : 'were there already'}`);
    const reader = connectionString(READER, passwords.reader, address);
    tell(options, { connection_string: reader, sandbox: id, ...address, collections }, io);
    await once(signal, 'abort');
    return 0;
  } finally {
    await forwarder.close();
  }
}

/** Another program may have the standard port; a chosen one is taken or refused. */
async function listen<T>(
  { listen: { host, port }, listenIsStandard }: DemoOptions,
  open: (address: { host: string; port: number }) => Promise<T>,
): Promise<T> {
  try {
    return await open({ host, port });
  } catch (error) {
    if (!listenIsStandard || !isTaken(error)) throw error;
    return await open({ host, port: 0 });
  }
}

interface Told {
  connection_string: string;
  sandbox: string;
  host: string;
  port: number;
  collections: Record<string, number>;
}

function tell({ json }: DemoOptions, told: Told, { stdout, stderr }: CliIo): void {
  if (json) {
    stdout.write(`${JSON.stringify(told)}\n`);
    return;
  }
  stdout.write(`${told.connection_string}\n`);
  stderr.write(
    `The demo database runs in the sandbox '${SANDBOX}' and is shown here until Ctrl-C. To use it:\n` +
      `  DOCUMENTDB_CONNECTION_STRING='${told.connection_string}' bin/sandhaven up\n`,
  );
}
