/**
 * The document database that the tests of one run share: the one that `sandhaven demo-db` runs, in a sandbox of a
 * service of its own. SANDHAVEN_TEST_DOCUMENTDB and SANDHAVEN_TEST_DOCUMENTDB_READER name another instead.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { TestProject } from 'vitest/node';
import { bin, endProcess, must, type Service, startService } from './service.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    documentDatabase: DocumentDatabaseAddresses;
  }
}

export interface DocumentDatabaseAddresses {
  /** Of a user who may write. */
  admin: string;
  /** Of one who may only read. */
  reader: string;
}

/** Enough for every shape of the data set, and loaded in a few seconds. */
const DOCUMENTS = 3_000;
const READY_TIMEOUT_MS = 300_000;

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const { SANDHAVEN_TEST_DOCUMENTDB: admin, SANDHAVEN_TEST_DOCUMENTDB_READER: reader } = process.env;
  if (admin && reader) {
    project.provide('documentDatabase', { admin, reader });
    return;
  }
  const service = await startService();
  try {
    const { addresses, end } = await runDemoDatabase(service);
    project.provide('documentDatabase', addresses);
    return async () => {
      await end().finally(() => service.stop());
    };
  } catch (error) {
    await service.stop();
    throw error;
  }
}

async function runDemoDatabase(service: Service) {
  const { url, apiKey } = service;
  const args = ['demo-db', '--json', '--documents', String(DOCUMENTS), '--listen', '127.0.0.1:0'];
  const env = { ...process.env, SANDBOX_API_URL: url, SANDBOX_API_KEY: apiKey };
  const child = spawn(bin, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const end = async () => {
    if (child.exitCode === null && child.signalCode === null) await endProcess(child, 'SIGTERM', () => said);
  };
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  try {
    const line = await Promise.race([
      new Promise<string>((resolve) => createInterface({ input: child.stdout }).once('line', resolve)),
      ended.then(() => Promise.reject(new Error(`demo-db ended:\n${said}`))),
      late(() => new Error(`demo-db was not ready in time:\n${said}`)),
    ]);
    const { connection_string: reader, sandbox } = JSON.parse(line);
    const asked = { sandbox, command: 'printf %s "$DOCUMENTDB_ADMIN_PASSWORD"' };
    const { stdout: password } = await must(service, 'RunCommand', asked);
    const admin = new URL(reader);
    admin.username = 'sandhaven';
    admin.password = String(password);
    return { addresses: { admin: admin.href, reader }, end };
  } catch (error) {
    await end();
    throw error;
  }
}

function late(error: () => Error): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(error()), READY_TIMEOUT_MS).unref();
  });
}
