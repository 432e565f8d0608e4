/** The document database with a certificate: asked for, or demanded of every client. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connected, createDocumentDb, type DocumentDb } from '../support/documentdb.ts';
import { must } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

let folder: string;
let service: SharedService;
let server: DocumentDb;
let certificate: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandhaven-tls-'));
  service = await sharedService();
  server = await createDocumentDb(service);
  await inside(
    'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost ' +
      '-addext subjectAltName=IP:127.0.0.1 -keyout /etc/documentdb/key.pem -out /etc/documentdb/cert.pem && ' +
      'chown postgres /etc/documentdb/key.pem',
  );
  certificate = join(folder, 'cert.pem');
  await writeFile(certificate, await inside('cat /etc/documentdb/cert.pem'));
}, 120_000);

afterAll(async () => {
  await server?.close();
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

describe('a server with a certificate', () => {
  it('speaks TLS and plain text on one port', async () => {
    await start('');
    const secure = await connected(server.uri('reader'), { tls: true, tlsCAFile: certificate });
    expect(await secure.db('admin').command({ ping: 1 })).toMatchObject({ ok: 1 });
    await secure.close();
    const plain = await connected(server.uri('reader'));
    await plain.close();
  }, 60_000);

  it('refuses clients without TLS or without its certificate when it demands TLS', async () => {
    await stop();
    await start('--tls-required');
    const secure = await connected(server.uri('reader'), { tls: true, tlsCAFile: certificate });
    await secure.close();
    await expect(attempt({})).rejects.toThrow();
    await expect(attempt({ tls: true })).rejects.toThrow(/self-signed/);
  }, 60_000);

  it('keeps the passwords out of every command line', async () => {
    const lines = await inside('cat /proc/[0-9]*/cmdline | tr "\\0" " "');
    expect(lines).toContain('main.ts');
    expect(lines).not.toContain('p@ss');
  });
});

async function start(flags: string): Promise<void> {
  const files = '--tls-cert /etc/documentdb/cert.pem --tls-key /etc/documentdb/key.pem';
  await inside(`setsid documentdb-start ${files} ${flags} >/tmp/log 2>&1 &`);
}

async function stop(): Promise<void> {
  await inside('pkill -TERM -f bin/documentdb-start; while pgrep -x postgres >/dev/null; do sleep 0.1; done');
}

async function attempt(options: object): Promise<void> {
  const client = new MongoClient(server.uri('reader'), { serverSelectionTimeoutMS: 1_000, ...options });
  try {
    await client.connect();
  } finally {
    await client.close();
  }
}

async function inside(command: string): Promise<string> {
  const ran = await must(service, 'RunCommand', { sandbox: server.sandbox, command });
  return String(ran['stdout']);
}
