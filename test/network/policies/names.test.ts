/** Rules for names through the whole way: curl in a machine's network, the firewall, the egress program, a web server. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NATIVE } from '../../../src/app/engine/installed.ts';
import type { Slot } from '../../../src/runtime/oci/host/plan.ts';
import { egressPid, killEgress } from '../egress-process.ts';
import { createTestHost, type Instance, inside, publicAddress, runDirOf, type TestHost } from '../harness.ts';
import { rules } from './rules.ts';

/** Exit statuses of curl. */
const curl = { ok: 0, noSuchName: 6, tlsRefused: 35, cutOff: 56 };

let host: TestHost;
let folder: string;
let instance: Instance;
const servers: ChildProcess[] = [];
let last = 0;

beforeAll(async () => {
  host = await createTestHost();
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-names-'));
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-subj', '/CN=public.test', '-nodes'];
  await promisify(execFile)('openssl', ['req', '-x509', ...made, '-keyout', key, '-out', certificate]);
  await start('web.ts', key, certificate);
  await start('../upstream.ts', publicAddress, 'test');
  instance = await startService();
});

afterAll(async () => {
  for (const server of servers) server.kill('SIGKILL');
  await host?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a program of this folder in the outside. */
async function start(program: string, ...args: string[]): Promise<void> {
  const command = [process.execPath, join(import.meta.dirname, program), ...args];
  const server = spawn('nsenter', [`--net=${host.outside.path}`, ...command]);
  servers.push(server);
  await once(server.stdout, 'data');
}

async function startService(options: object = {}): Promise<Instance> {
  const service = host.start({ poolSize: 1, egressPath: join(NATIVE, 'sandhaven-egress'), ...options });
  writeFileSync(`${runDirOf(service.id)}/resolv.conf`, `nameserver ${publicAddress}\n`);
  await service.init();
  return service;
}

async function machine(...texts: string[]): Promise<{ id: string; slot: Slot }> {
  const id = `sb_${String(++last).padStart(16, '0')}`;
  return { id, slot: await instance.acquire(id, rules(...texts)) };
}

/** Arguments that run curl in a machine's network, with its gateway as the resolver. */
function curlIn(slot: Slot, args: string[]): string[] {
  const resolvConf = join(folder, `${slot.address}.conf`);
  writeFileSync(resolvConf, `nameserver ${slot.gateway}\n`);
  const script = 'mount --bind "$1" /etc/resolv.conf && shift && exec curl "$@"';
  return [
    ...[`--net=${inside(slot).path}`, 'unshare', '--mount', 'sh', '-c', script, 'sh', resolvConf],
    ...['--silent', '--show-error', '--insecure', '--max-time', '8', '--noproxy', '*', ...args],
  ];
}

async function get(slot: Slot, ...args: string[]): Promise<{ status: number; text: string }> {
  const child = spawn('nsenter', curlIn(slot, args));
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  const [status] = await once(child, 'close');
  return { status, text: text.trim() };
}

describe('a rule for a name', () => {
  it('lets http and https to it through, and no other name', async () => {
    const { slot } = await machine('public.test');
    expect(await get(slot, 'http://public.test/a')).toEqual({ status: curl.ok, text: 'GET public.test/a' });
    expect(await get(slot, 'https://public.test/b')).toEqual({ status: curl.ok, text: 'GET public.test/b' });
    expect((await get(slot, 'https://spoofed.test/')).status).toBe(curl.noSuchName);
  });

  it('lets nobody else through at the address of that name', async () => {
    const { slot } = await machine('public.test');
    await get(slot, 'http://public.test/');
    const at = (port: number) => ['--connect-to', `spoofed.test:${port}:public.test:${port}`];
    expect((await get(slot, ...at(443), 'https://spoofed.test/')).status).toBe(curl.tlsRefused);
    const plain = await get(slot, ...at(80), '--write-out', '%{http_code}', 'http://spoofed.test/');
    expect(plain.text).toMatch(/403$/);
  });

  it('is no rule for an address that nobody asked for', async () => {
    const { slot } = await machine('public.test');
    const aimed = ['--resolve', `public.test:443:${publicAddress}`];
    expect((await get(slot, ...aimed, 'https://public.test/')).status).toBe(curl.tlsRefused);
    expect((await get(slot, `https://${publicAddress}/`)).status).toBe(curl.tlsRefused);
  });

  it('with a method and a path lets those through alone', async () => {
    const { slot } = await machine('GET http://public.test/files');
    const code = ['--write-out', ' %{http_code}'];
    expect((await get(slot, 'http://public.test/files/a')).text).toBe('GET public.test/files/a');
    expect((await get(slot, ...code, 'http://public.test/other')).text).toMatch(/ 403$/);
    expect((await get(slot, ...code, '--data', 'x', 'http://public.test/files/a')).text).toMatch(/ 403$/);
    expect((await get(slot, 'https://public.test/files/a')).status).not.toBe(curl.ok);
  });

  it('of the suffix kind covers names below it', async () => {
    const { slot } = await machine('http://*.example.test');
    expect((await get(slot, 'http://public.example.test/')).text).toBe('GET public.example.test/');
    expect((await get(slot, 'http://public.test/')).status).toBe(curl.noSuchName);
  });
});

describe('a name', () => {
  it.each(['private.test', 'mixed.test', 'alias.test', 'loopback.test'])(
    '%s that leads to a private address leads nowhere',
    async (name) => {
      const { slot } = await machine(name);
      expect((await get(slot, `http://${name}/`)).status).toBe(curl.noSuchName);
    },
  );
});

describe('a change', () => {
  it('ends a download that it forbids, at once', async () => {
    const { id, slot } = await machine('https://public.test');
    const child = spawn('nsenter', curlIn(slot, ['--no-buffer', 'https://public.test/stream']));
    let bytes = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    await expect.poll(() => bytes).toBeGreaterThan(50);
    const ended = once(child, 'close');
    await instance.setNetwork(id, rules('http://public.test'));
    const before = bytes;
    const [status] = await ended;
    expect(status).toBe(curl.cutOff);
    expect(bytes - before).toBeLessThan(20);
  });

  it('leaves a download alone that it still allows', async () => {
    const { id, slot } = await machine('https://public.test');
    const child = spawn('nsenter', curlIn(slot, ['--no-buffer', 'https://public.test/stream']));
    let bytes = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    await expect.poll(() => bytes).toBeGreaterThan(50);
    await instance.setNetwork(id, rules('https://public.test', 'http://public.test'));
    const before = bytes;
    await expect.poll(() => bytes).toBeGreaterThan(before + 50);
    child.kill('SIGKILL');
  });
});

describe('the egress program', () => {
  it('is nobody, in an empty file system, with no rights', async () => {
    const { slot } = await machine('public.test');
    const pid = egressPid(slot);
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    expect(Number(/^Uid:\s+(\d+)/m.exec(status)?.[1])).toBeGreaterThanOrEqual(200_000);
    expect(status).toMatch(/^CapEff:\s+0{16}$/m);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(readdirSync(`/proc/${pid}/root`)).toEqual([]);
  });

  it('that is killed comes back with all policies, and nothing passes meanwhile', async () => {
    const { slot } = await machine('public.test');
    const pid = egressPid(slot);
    expect(killEgress(slot)).toBe(true);
    expect((await get(slot, '--connect-timeout', '2', `https://${publicAddress}/`)).status).not.toBe(curl.ok);
    await expect.poll(async () => (await get(slot, 'https://public.test/')).status).toBe(curl.ok);
    expect(egressPid(slot)).not.toBe(pid);
  });

  it('reports what it refused and what it let through, with bytes', async () => {
    const { id, slot } = await machine('https://public.test');
    await get(slot, 'https://public.test/');
    await get(slot, 'https://spoofed.test/');
    const own = () => instance.events.filter(({ sandbox }) => sandbox === id);
    await expect
      .poll(own)
      .toContainEqual(
        expect.objectContaining({ kind: 'tls', name: 'public.test', port: 443, allowed: true, ended: true }),
      );
    await expect
      .poll(own)
      .toContainEqual(
        expect.objectContaining({ kind: 'dns', name: 'spoofed.test', allowed: false, rule: null }),
      );
    expect(own().find(({ ended }) => ended)?.received).toBeGreaterThan(0);
  });
});

describe('a restart of the service', () => {
  it('lets what was allowed through again, and never anything else', async () => {
    const before = instance;
    const { slot } = await machine('https://public.test');
    expect((await get(slot, 'https://public.test/')).status).toBe(curl.ok);
    await before.kill();
    await sleep(100);
    expect((await get(slot, '--connect-timeout', '2', 'https://public.test/')).status).not.toBe(curl.ok);
    instance = await startService({ instanceId: before.id });
    await expect.poll(async () => (await get(slot, 'https://public.test/')).status).toBe(curl.ok);
    expect((await get(slot, '--write-out', '%{http_code}', 'http://public.test/')).text).toMatch(/403$/);
  });
});
