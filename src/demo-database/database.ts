/** Connects to the demo database. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { MongoClient } from 'mongodb';
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Forwarder } from '../surfaces/cli/forwarder.ts';
import type { Machine } from './machine.ts';
import { ADMIN, READER, type ServerKind } from './server-kind.ts';

const RETRY_MS = 250;
const AUTHENTICATION_FAILED = 18;

/** Connects as the read-only user. The default database for authentication is right on every server. */
export function readerConnectionString(at: Pick<Forwarder, 'host' | 'port'>, machine: Machine): string {
  return connectionString(at, READER, machine.readerPassword);
}

/** Returns once the users exist; the caller closes the client. Rejects with `timeout`. */
export async function connectWhenReady(
  at: Pick<Forwarder, 'host' | 'port'>,
  kind: ServerKind,
  machine: Machine,
  signal: AbortSignal,
): Promise<MongoClient> {
  // Loaded here, so that no other command pays for the driver.
  const { MongoClient } = await import('mongodb');
  const deadline = performance.now() + limits.documents.demo.readyMs;
  for (;;) {
    const client = new MongoClient(connectionString(at, ADMIN, machine.adminPassword), {
      serverSelectionTimeoutMS: limits.documents.demo.attemptMs,
    });
    let code: unknown;
    try {
      // A reset during the handshake may leave the driver waiting for ever.
      const ended = AbortSignal.any([signal, AbortSignal.timeout(2 * limits.documents.demo.attemptMs)]);
      if (await kind.isReady(client, ended)) {
        await kind.addReader(client, machine.readerPassword);
        return client;
      }
    } catch (error) {
      code = (error as { code?: unknown }).code;
    }
    await closeClient(client);
    signal.throwIfAborted();
    if (performance.now() > deadline) throw silent(code);
    await sleep(RETRY_MS, undefined, { signal });
  }
}

/** Resolves within a bound. The driver may wait for an answer for ever; the end of the forwarder breaks what it holds. */
export async function closeClient(client: MongoClient): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limits.documents.demo.attemptMs);
  });
  await Promise.race([client.close(), late]);
  clearTimeout(timer);
}

function connectionString(
  { host, port }: Pick<Forwarder, 'host' | 'port'>,
  user: string,
  password: string,
): string {
  const bracketed = host.includes(':') ? `[${host}]` : host;
  return `mongodb://${user}:${password}@${bracketed}:${port}/?directConnection=true`;
}

/** The driver's own words stay private: they may hold the connection string. */
function silent(code: unknown): SandhavenError {
  const detail =
    code === AUTHENTICATION_FAILED
      ? 'The demo database refuses the password that its sandbox was made with.'
      : 'The demo database does not answer.';
  return new SandhavenError('timeout', detail, {
    hint:
      'Start its sandbox anew: `sandhaven call Sandbox.StopSandbox --sandbox demo-db`, then `sandhaven demo-db`. ' +
      'If that does not help, `sandhaven demo-db --remove` and begin again.',
  });
}
