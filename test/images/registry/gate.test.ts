/** Registries that only a member has named: where they may be, and where they may send to. Real skopeo, behind its gate. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { askServers, createExit } from '../../../src/outbound/exit.ts';
import { createImages, type LocalImages } from '../../../src/runtime/images/images.ts';
import { type NameServer, startNameServer } from '../../outbound/name-server.ts';
import { makeCertificate } from '../../support/certificates.ts';
import { createTestHelpers, gatesIn, naming, unpackPath } from '../helpers.ts';
import { tarGz } from '../tar.ts';
import { type RawRegistry, startRawRegistry } from './raw-registry.ts';

const log = { info() {}, warn() {}, error() {} };
/** Of a network for documents, which counts as public and is routed nowhere; this host has it for the time of the test. */
const PUBLIC = '203.0.113.77';

let registry: RawRegistry;
/** On this host's loopback; nobody may come. */
let secret: Server;
let visitors: string[];
let names: NameServer;
let front: Server;
/** Path of a blob, or of anything, and where it is sent to. */
let redirect: string | null;
let realm: string | null;
let port: number;
let scratch: string;
let programs: string[];
let images: LocalImages;

beforeAll(async () => {
  execFileSync('ip', ['address', 'add', `${PUBLIC}/32`, 'dev', 'lo']);
  registry = await startRawRegistry();
  registry.put('team/app', { layers: [tarGz([{ name: 'a', content: 'a' }])] });
  secret = createHttpServer((request, response) => {
    visitors.push(request.url ?? '');
    response.end('{"token":"secret"}');
  });
  secret.on('connection', () => visitors.push('connection'));
  secret.listen(0, '127.0.0.1');
  const made = makeCertificate(['DNS:registry.test', 'DNS:other.test']);
  front = createServer({ cert: made.pem(), key: made.key() }, async (request, response) => {
    const { url = '' } = request;
    if (redirect && url.includes('/blobs/')) {
      response.writeHead(307, { location: redirect }).end();
      return;
    }
    if (realm) {
      response.writeHead(401, { 'www-authenticate': `Bearer realm="${realm}",service="s"` }).end();
      return;
    }
    const found = await fetch(`http://${registry.address}${url}`);
    const type = found.headers.get('content-type') ?? 'application/octet-stream';
    response.writeHead(found.status, { 'content-type': type }).end(Buffer.from(await found.arrayBuffer()));
  });
  await new Promise<void>((resolve) => front.listen(0, PUBLIC, resolve));
  port = (front.address() as AddressInfo).port;
  names = await startNameServer((name) => {
    if (name === 'silent.test') return undefined;
    return { a: [name === 'private.test' ? '127.0.0.1' : PUBLIC] };
  });
  scratch = await mkdtemp(join(tmpdir(), 'sandhaven-gate-'));
  writeFileSync(join(scratch, 'ca.pem'), made.pem());
  made.remove();
});

afterAll(async () => {
  execFileSync('ip', ['address', 'del', `${PUBLIC}/32`, 'dev', 'lo']);
  front.close();
  secret.close();
  await Promise.all([registry.close(), names.close(), rm(scratch, { recursive: true })]);
});

beforeEach(async () => {
  [visitors, programs, redirect, realm] = [[], [], null, null];
  const dataDir = await mkdtemp(join(scratch, 'data-'));
  const exit = createExit({ askServers: (host, signal) => askServers(host, signal, [names.at]) });
  images = createImages({
    ...{ dataDir, cacheDir: dataDir, unpackPath, gates: gatesIn(scratch, exit), log },
    helpers: createTestHelpers(programs, { SSL_CERT_FILE: join(scratch, 'ca.pem') }),
    rules: naming(`127.0.0.1:${registry.address.split(':')[1]}`),
  });
  await images.init();
  programs.length = 0;
  names.asked.length = 0;
});

afterEach(async () => {
  await expect.poll(() => readdir(join(scratch, 'gates'))).toEqual([]);
});

const here = () => (secret.address() as AddressInfo).port;

describe('a registry that a member has named', () => {
  it('is asked at a public address, and gives an image', async () => {
    const name = `registry.test:${port}/team/app:1`;
    expect(await images.ensure(name)).toMatchObject({ reference: name });
    expect(programs.filter((line) => line.includes('launcher'))).toHaveLength(2);
  });

  it('is not asked where its name has an address that is not public', async () => {
    await expect(images.ensure(`private.test:${here()}/team/app:1`)).rejects.toMatchObject({
      code: 'permission_denied',
      message: expect.stringContaining('not public'),
      fields: { hint: expect.stringContaining(`--registry-allow all,private.test:${here()}`) },
    });
    expect(visitors).toEqual([]);
  });

  it('is not asked on loopback, and no program starts', async () => {
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '127.9.9.9']) {
      await expect(images.ensure(`${host}:${here()}/team/app:1`)).rejects.toMatchObject({
        code: 'permission_denied',
      });
    }
    expect({ programs, visitors }).toEqual({ programs: [], visitors: [] });
  });

  it('sends nobody to loopback for a layer, by address or by name', async () => {
    redirect = `http://127.0.0.1:${here()}/layer`;
    await expect(images.ensure(`registry.test:${port}/team/app:1`)).rejects.toMatchObject({
      code: 'unavailable',
    });
    redirect = `https://private.test:${here()}/layer`;
    await expect(images.ensure(`registry.test:${port}/team/app:1`)).rejects.toMatchObject({
      code: 'permission_denied',
    });
    expect(visitors).toEqual([]);
  });

  it('sends nobody to loopback for a token, by address or by name', async () => {
    for (const host of ['http://127.0.0.1', 'http://localhost', 'http://[::ffff:127.0.0.1]']) {
      realm = `${host}:${here()}/token`;
      await expect(images.ensure(`registry.test:${port}/team/app:1`)).rejects.toMatchObject({
        code: 'unavailable',
      });
    }
    realm = `https://private.test:${here()}/token`;
    await expect(images.ensure(`registry.test:${port}/team/app:1`)).rejects.toMatchObject({
      code: 'permission_denied',
    });
    expect(visitors).toEqual([]);
  });

  it('is asked through the proxy of the service, which is sent to no private address', async () => {
    const asked: string[] = [];
    const proxy = createHttpServer();
    proxy.on('connect', ({ url, headers }, client) => {
      asked.push(`${url} ${headers['proxy-authorization']}`);
      const server = connect(port, PUBLIC, () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
      // Either may be gone before the other.
      for (const socket of [client, server]) socket.on('error', () => {});
      client.pipe(server).pipe(client);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port: at } = proxy.address() as AddressInfo;
    vi.stubEnv('HTTPS_PROXY', `http://who:what@127.0.0.1:${at}`);
    try {
      await images.ensure(`registry.test:${port}/team/app:1`);
      expect(new Set(asked)).toEqual(new Set([`registry.test:${port} Basic d2hvOndoYXQ=`]));
      expect(names.asked).not.toContain('registry.test');
      await expect(images.ensure(`10.0.0.1:${port}/team/app:1`)).rejects.toMatchObject({
        code: 'permission_denied',
      });
      expect(new Set(asked).size).toBe(1);
    } finally {
      vi.unstubAllEnvs();
      proxy.closeAllConnections();
      proxy.close();
    }
  });

  it('delays nobody else when no name server answers for it', async () => {
    const left = new AbortController();
    const silent = images.ensure('silent.test/team/app:1', { owner: 'mira', signal: left.signal });
    silent.catch(() => {});
    await expect.poll(() => names.asked.includes('silent.test'), { timeout: 10_000 }).toBe(true);
    const begun = Date.now();
    await images.ensure(`other.test:${port}/team/app:1`, { owner: 'noor' });
    expect(Date.now() - begun).toBeLessThan(5_000);
    left.abort();
    await expect(silent).rejects.toThrow('canceled');
  });
});

describe('a registry that the operator has named', () => {
  it('gives images from loopback, by the network of the host', async () => {
    const name = `${registry.address}/team/app:1`;
    expect(await images.ensure(name)).toMatchObject({ reference: name });
    expect(programs.filter((line) => line.includes('launcher'))).toEqual([]);
  });
});
