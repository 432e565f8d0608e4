/** TLS of a listener: what it speaks, and how it gets another certificate while it serves. */
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpServer } from '../../src/surfaces/http/server.ts';
import { fingerprint, readCertificate } from '../../src/tls/certificate.ts';
import { TlsServing } from '../../src/tls/serving.ts';
import { type MadeCertificate, makeCertificate } from '../support/certificates.ts';
import { askSecure, type Secure } from '../support/secure.ts';
import { API_KEY, createFakeServices } from '../surfaces/fakes/fake-services.ts';

interface Line {
  level: string;
  message: string;
  context: Record<string, unknown>;
}

let made: MadeCertificate;
let tls: TlsServing;
let app: FastifyInstance;
let client: Secure;
let log: Line[];

beforeEach(async () => {
  made = makeCertificate(['IP:127.0.0.1', 'DNS:sandhaven.example.com']);
  log = [];
  const write =
    (level: string) =>
    (message: string, context: Record<string, unknown> = {}) => {
      log.push({ level, message, context });
    };
  const written = { info: write('info'), warn: write('warn'), error: write('error') };
  const hosts = ['sandhaven.example.com', '*.previews.example.com'];
  tls = await TlsServing.open({ files: made, hosts, log: written });
  app = createHttpServer({
    services: createFakeServices().services,
    log: written,
    allowedHosts: ['127.0.0.1'],
    version: '1',
    ready: () => true,
    tls,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  client = { port: (app.server.address() as AddressInfo).port, ca: made.pem() };
});

afterEach(async () => {
  tls.close();
  app.server.closeAllConnections();
  await app.close();
  made.remove();
});

const health = (secure: Secure = client, agent?: Agent) =>
  askSecure(secure, '/healthz', agent ? { agent } : {}).then(({ status }) => status);

function handshake(
  options: object,
): Promise<{ protocol: string | null; cipher: string; alpn: string | false | null }> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connectTls(
      { host: '127.0.0.1', port: client.port, ca: client.ca, ...options },
      () => {
        const { name: cipher } = socket.getCipher();
        resolve({ protocol: socket.getProtocol(), cipher, alpn: socket.alpnProtocol });
        socket.destroy();
      },
    );
    socket.once('error', reject);
  });
}

describe('a TLS listener', () => {
  it('speaks TLS 1.3, and 1.2 with forward secrecy and authenticated encryption; nothing older or weaker', async () => {
    expect(await handshake({ ALPNProtocols: ['h2', 'http/1.1'] })).toMatchObject({
      protocol: 'TLSv1.3',
      alpn: 'http/1.1',
    });
    const older = await handshake({ maxVersion: 'TLSv1.2' });
    expect(older.protocol).toBe('TLSv1.2');
    expect(older.cipher).toMatch(/^ECDHE-.*(?:GCM|CHACHA20)/);
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
    await expect(handshake(old)).rejects.toThrow();
    const weak = { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA@SECLEVEL=0' };
    await expect(handshake(weak)).rejects.toThrow();
    expect(await health()).toBe(200);
  });

  it('refuses plain HTTP, without a redirect that would take the key along', async () => {
    const said = await plain(
      `GET /v1/tools HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${API_KEY}\r\n\r\n`,
    );
    expect(said).toMatch(/^HTTP\/1\.1 400 /);
    expect(said).not.toMatch(/location/i);
    expect(said).toContain('https://');
    expect(await plain('\0\0\0')).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('serves on after nonsense within TLS and a handshake that fails', async () => {
    expect(await plain(Buffer.from([0x16, 0x03, 0x01, 0x00, 0x02, 0xff, 0xff]))).not.toContain('HTTP');
    await expect(handshake({ ca: [] })).rejects.toThrow(/self-signed/);
    expect(await health()).toBe(200);
  });

  it('closes without waiting for clients that only connected', async () => {
    const silent = connect(client.port, '127.0.0.1');
    silent.on('error', () => {});
    await new Promise((resolve) => silent.once('connect', resolve));
    await app.close();
    expect(silent.destroyed || (await text(silent)) === '').toBe(true);
  });
});

describe('a new certificate', () => {
  it('is served to who comes when both files have changed, and no connection is dropped', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await health(client, agent)).toBe(200);
    const before = client.ca;
    made.renew();
    const renewed = { ...client, ca: made.pem() };
    await expect.poll(() => health(renewed).catch(String), { timeout: 15_000 }).toBe(200);
    await expect(health({ ...client, ca: before })).rejects.toThrow();
    // The connection of before still is the same one: this agent believes the old certificate alone.
    expect(await health({ ...client, ca: before }, agent)).toBe(200);
    agent.destroy();
    expect(log.filter(({ level }) => level === 'error')).toEqual([]);
  }, 30_000);

  it('is reported when it does not fit its key, and the old one goes on', async () => {
    const key = readFileSync(made.keyFile, 'utf8');
    const other = makeCertificate(['IP:127.0.0.1']);
    copyFileSync(other.certFile, made.certFile);
    await expect.poll(() => log.filter(({ level }) => level === 'error').length, { timeout: 15_000 }).toBe(1);
    expect(await health()).toBe(200);
    copyFileSync(other.keyFile, made.keyFile);
    const renewed = { ...client, ca: other.pem() };
    await expect.poll(() => health(renewed).catch(String), { timeout: 15_000 }).toBe(200);
    other.remove();
    expect(JSON.stringify(log.map(({ context }) => String(context['error'])))).not.toContain(
      key.slice(40, 80),
    );
  }, 45_000);

  it('is read when the operator asks', async () => {
    made.renew();
    await tls.reload();
    expect(await health({ ...client, ca: made.pem() })).toBe(200);
  });

  it('is not looked for in vain while a file is away', async () => {
    const pem = made.pem();
    made.remove();
    expect(await fingerprint(made)).toBeNull();
    await sleep(5_000);
    expect(log.filter(({ level }) => level === 'error')).toEqual([]);
    expect(await health({ ...client, ca: pem })).toBe(200);
  }, 30_000);

  it('causes a warning when it is not for the hosts that clients use', () => {
    expect(log).toContainEqual({
      level: 'warn',
      message: 'the certificate does not cover these hosts',
      context: { hosts: ['*.previews.example.com'] },
    });
  });
});

describe('files that do not do', () => {
  const failure = { code: 'failed_precondition' };

  it.each([
    ['a key that every user of the machine can read', () => chmodSync(made.keyFile, 0o644), '--tls-key'],
    ['no key', () => writeFileSync(made.keyFile, 'secret-text'), '--tls-key'],
    ['no certificate', () => writeFileSync(made.certFile, 'x'), '--tls-cert'],
    ['too much', () => writeFileSync(made.certFile, 'x'.repeat(300_000)), '--tls-cert'],
    ['nothing', () => made.remove(), '--tls-cert'],
  ])('%s', async (_what, spoil, parameter) => {
    spoil();
    const refused = await readCertificate(made).catch((error: unknown) => error);
    expect(refused).toMatchObject({ ...failure, fields: { parameter, hint: expect.any(String) } });
    expect(String(refused)).not.toContain('secret-text');
  });

  it('a key that its group may read does', async () => {
    chmodSync(made.keyFile, 0o640);
    expect((await readCertificate(made)).names).toEqual([
      'IP Address:127.0.0.1',
      'DNS:sandhaven.example.com',
    ]);
  });
});

function plain(bytes: string | Buffer): Promise<string> {
  const socket = connect(client.port, '127.0.0.1');
  socket.write(bytes);
  return text(socket).catch(() => '');
}
