/**
 * Beside the search of canary.test.ts: errors of every kind, a password that the server refuses, and what the programs
 * that the service starts are started with, where the code-hosting provider's secret is looked for as well.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, must, type Service, startService } from '../../support/service.ts';
import { run } from '../../support/transports.ts';
import { badCalls } from '../bad-input.ts';
import { openProxy } from '../connection/proxy.ts';
import { adminConnectionString, connectionStringAt, useTestDatabase } from '../server.ts';

const database = useTestDatabase({ things: [{ _id: 1, n: 1, name: 'a' }] as never[] });
const things = { database_name: database.name, collection_name: 'things' };
const proxy = await openProxy();
const { password } = new URL(adminConnectionString);
const wrong = `canary-${randomBytes(12).toString('hex')}`;
const working = connectionStringAt(proxy.port);
/** What identifies the one that works on a machine where others use the same server. */
const address = working.slice('mongodb://'.length).replace(/\/.*$/, '');
const provider = `canary-${randomBytes(12).toString('hex')}`;
const secrets: Record<string, string> = { address, wrong, password, provider };

let service: Service;
let refused: Service;
const answers: { what: string; text: string }[] = [];
const folder = mkdtempSync(join(tmpdir(), 'sandhaven-canary-'));
const helpers = new Map<string, Buffer>();

beforeAll(async () => {
  const url = new URL(working);
  url.password = wrong;
  const PATH = `${pathWithOwnIp()}:${process.env['PATH']}`;
  // The tests' own variables name the same server.
  const unknown = { SANDHAVEN_TEST_DOCUMENTDB: '', SANDHAVEN_TEST_DOCUMENTDB_READER: '' };
  const ofProvider = { SANDHAVEN_GITHUB_CLIENT_ID: 'id', SANDHAVEN_GITHUB_CLIENT_SECRET: provider };
  const environment = { ...unknown, ...ofProvider, DOCUMENTDB_CONNECTION_STRING: working, PATH };
  // With runc one more program starts.
  service = await startService({ env: environment, flags: ['--machine-runtime', 'runc'] });
  refused = await startService({
    env: { DOCUMENTDB_CONNECTION_STRING: url.href, DOCUMENTDB_ORDER_OF_USE: 'advise' },
  });
  await watchingHelpers(async () => {
    await must(service, 'CreateSandbox', { name: 'box', cpu: 1, memory_gb: 1, disk_gb: 1 });
  });
  // It is over within milliseconds, which on a busy machine may pass unseen.
  for (let more = 0; more < 10 && !helpers.has('runc'); more++) {
    await watchingHelpers(async () => {
      await must(service, 'StopSandbox', { sandbox: 'box' });
      await must(service, 'StartSandbox', { sandbox: 'box' });
    });
  }
  await useEverything();
}, 180_000);

afterAll(async () => {
  await service?.stop();
  await refused?.stop();
  await proxy.close();
  rmSync(folder, { recursive: true });
});

describe('[DDB-AUTH-02] the connection string, and the password in it, are in no', () => {
  it('answer, whether it is a result or an error', () => {
    expect(answers.length).toBeGreaterThan(badCalls.length + 20);
    for (const { what, text } of answers) expect({ what, found: found(text) }).toEqual({ what, found: [] });
    const codes = answers.map(({ text }) => /"code":"(\w+)"/.exec(text)?.[1]);
    for (const code of ['invalid_argument', 'not_found', 'permission_denied', 'unavailable']) {
      expect(codes).toContain(code);
    }
  });

  it('log', () => {
    for (const { log } of [service, refused]) {
      expect(log()).toContain('listening');
      expect(found(log())).toEqual([]);
    }
  });

  it('environment of what the service starts', () => {
    const names = [...helpers.keys()];
    expect(names).toEqual(expect.arrayContaining(['spawner', 'sandhaven-launc', 'runc']));
    const ip = readFileSync(join(folder, 'environment of ip'), 'utf8');
    expect(ip).toContain('PATH=');
    expect(found(ip)).toEqual([]);
    for (const [name, environment] of helpers) {
      expect({ name, found: found(environment) }).toEqual({ name, found: [] });
    }
  });
});

/** What works, what is wrong, what the server refuses, and what nobody answers. */
async function useEverything(): Promise<void> {
  const ask = async (by: Service, tool: string, parameters: Record<string, unknown> = {}) => {
    const { body } = await call(by, `DocumentDb.${tool}`, parameters);
    answers.push({ what: `${tool} ${JSON.stringify(parameters)}`, text: JSON.stringify(body) });
  };
  const all = async (by: Service) => {
    await ask(by, 'DiscoverDatabases');
    await ask(by, 'DiscoverCollections', { database_name: database.name });
    await ask(by, 'GetCollectionSchema', things);
    await ask(by, 'FindDocuments', things);
    await ask(by, 'CountDocuments', things);
    await ask(by, 'AggregateDocuments', { ...things, pipeline: ['{"$match": {}}'] });
    await ask(by, 'FindDocuments', { ...things, save_to_sandbox: 'box', save_to_path: 'things.jsonl' });
    const divided = '{"$project": {"x": {"$divide": [1, {"$subtract": ["$n", "$n"]}]}}}';
    await ask(by, 'AggregateDocuments', { ...things, pipeline: [divided] });
    await ask(by, 'GetCollectionSchema', { ...things, collection_name: 'thing' });
  };
  await all(service);
  for (const [, tool, parameters] of badCalls) await ask(service, tool, { ...things, ...parameters });
  await all(refused);
  const told = await run(['call', 'DocumentDb.DiscoverDatabases'], refused);
  answers.push({ what: 'the CLI', text: told.stdout + told.stderr });
  await proxy.cut();
  await ask(service, 'DiscoverDatabases');
  await ask(service, 'FindDocuments', things);
  await proxy.resume();
}

/** Network tools are over too soon to be looked at from outside: one in their place tells what it was started with. */
function pathWithOwnIp(): string {
  const own = join(folder, 'bin');
  const real = execFileSync('sh', ['-c', 'command -v ip'], { encoding: 'utf8' }).trim();
  const script = `#!/bin/sh\nenv >> '${join(folder, 'environment of ip')}'\nexec ${real} "$@"\n`;
  mkdirSync(own);
  writeFileSync(join(own, 'ip'), script, { mode: 0o755 });
  return own;
}

/** Keeps the environment of every program that the service, and what it has started, starts meanwhile. */
async function watchingHelpers(work: () => Promise<void>): Promise<void> {
  let isOver = false;
  const working = work().finally(() => {
    isOver = true;
  });
  const own = read(`/proc/${service.pid}/cmdline`);
  while (!isOver) {
    for (const pid of descendants(service.pid)) {
      const environment = read(`/proc/${pid}/environ`);
      const command = read(`/proc/${pid}/cmdline`);
      // Between fork and exec a child shows what its parent was started with.
      if (command.length === 0 || command.equals(own)) continue;
      helpers.set(`${command}`.split('\0')[1] ?? '', environment);
      helpers.set(read(`/proc/${pid}/comm`).toString().trim(), environment);
    }
    await turn();
  }
  await working;
}

/** Each one's first thread alone is asked: it starts all programs here, and programs are over in a moment. */
function descendants(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`)
    .toString()
    .split(' ')
    .filter(Boolean)
    .map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

function found(bytes: Buffer | string, among = secrets): string[] {
  return Object.entries(among).flatMap(([name, secret]) => (bytes.includes(secret) ? [name] : []));
}

function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    // It ended meanwhile.
    return Buffer.alloc(0);
  }
}
