/** The connection string, and what is in it, is in nothing that anybody sees. */
import { PassThrough } from 'node:stream';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/log.ts';
import { toProblem } from '../../../src/model/errors.ts';
import { startProxy } from '../connection/proxy.ts';
import { connectTo, serverAddress } from '../server.ts';

/** Needs percent-encoding, so that both spellings are looked for. */
const password = 'p@ss/w:rd$ecret';
const encoded = encodeURIComponent(password);
const { host, port } = serverAddress();

async function failureOf(connectionString: string): Promise<unknown> {
  return await connectTo(connectionString)
    .databases()
    .then(
      () => {
        throw new Error('It did not fail.');
      },
      (error: unknown) => error,
    );
}

/** As the log, a debugger and a caller are shown it. */
function everythingSaidOf(error: unknown): string {
  const log = new PassThrough();
  createLog(log).error('failed', { error });
  const logged = String(log.read());
  const looked = inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true });
  return [logged, looked, String(error), JSON.stringify(toProblem(error, 'r'))].join('\n');
}

describe('[DDB-AUTH-02] no error holds the password', () => {
  const soon = 'serverSelectionTimeoutMS=300';

  it.each([
    ['refused credentials', `mongodb://someone:${encoded}@${host}:${port}/?${soon}`],
    ['a server that is away', `mongodb://someone:${encoded}@127.0.0.1:1/?${soon}`],
    ['a host that nobody knows', `mongodb://someone:${encoded}@nowhere.invalid/?${soon}`],
    ['a service record that is not there', `mongodb+srv://someone:${encoded}@nowhere.invalid/?${soon}`],
    ['a server that speaks no TLS', `mongodb://someone:${encoded}@${host}:${port}/?tls=true&${soon}`],
    ['a string that is none', `mongodb://someone:${password}@${host}:${port}/`],
    ['another scheme', `postgres://someone:${encoded}@${host}:${port}/`],
    ['an unknown option', `mongodb://someone:${encoded}@${host}:${port}/?password=${encoded}`],
    ['a wrong port', `mongodb://someone:${encoded}@${host}:${encoded}/`],
    ['an unknown mechanism', `mongodb://someone:${encoded}@${host}:${port}/?authMechanism=${encoded}`],
    [
      'a file that is not there',
      `mongodb://someone:${encoded}@${host}:${port}/?tls=true&tlsCAFile=/${encoded}`,
    ],
  ])('%s', async (_, connectionString) => {
    const said = everythingSaidOf(await failureOf(connectionString));
    expect(said).toMatch(/unavailable|permission_denied/);
    for (const secret of [password, encoded, connectionString]) expect(said).not.toContain(secret);
  });

  it('a query that the server ended', async () => {
    const proxy = await startProxy();
    const documents = connectTo(`mongodb://someone:${encoded}@127.0.0.1:${proxy.port}/?${soon}`);
    await proxy.cut();
    const error = await documents.databases().catch((reason: unknown) => reason);
    expect(everythingSaidOf(error)).not.toContain(password);
  });
});

describe('[DDB-AUTH-02] no look at the database shows the password', () => {
  it('neither before nor after it was used', async () => {
    const documents = connectTo(`mongodb://someone:${encoded}@127.0.0.1:1/?serverSelectionTimeoutMS=100`);
    const query = documents.find({ database: 'd', collection: 'c', skip: 0 });
    await documents.databases().catch(() => {});
    for (const shown of [documents, query]) {
      const said = `${inspect(shown, { depth: Number.POSITIVE_INFINITY, showHidden: true })}${JSON.stringify(shown)}`;
      expect(said).not.toContain(encoded);
      expect(said).not.toContain(password);
    }
  });
});
