/** The way of connections to hosts that take secrets: always through the egress program, or nowhere. With a double of it. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Slot } from '../../../src/runtime/oci/host/plan.ts';
import { inPart } from '../../deep/parts.ts';
import {
  createTestHost,
  forbiddenAddresses,
  type Instance,
  inside,
  publicAddress,
  runDirOf,
  type TestHost,
} from '../harness.ts';
import { askGate, fakeEgress } from '../policies/fake-egress.ts';
import { none, open, rules } from '../policies/rules.ts';
import { tryInALoop } from '../policies/try-in-a-loop.ts';
import { connectTcp, openConnection, type Server, sendUdp, serve } from '../probe.ts';
import { secretsAt, value } from './machine-secrets.ts';

/** Port of the secrets' host, and another one of the same server. */
const port = 18_091;
const otherPort = 18_092;
const KILLS = inPart('network') ? 3 : 1;

let host: TestHost;
/** Of the tests that do not end it. */
let instance: Instance;
const servers: Server[] = [];
let last = 0;

beforeAll(async () => {
  host = await createTestHost();
  servers.push(await serve(host.outside, port), await serve(host.outside, otherPort));
  instance = await started();
});

afterAll(async () => {
  for (const server of servers) server[Symbol.dispose]();
  await host?.[Symbol.asyncDispose]();
});

const nextId = () => `sb_${String(++last).padStart(16, '0')}`;

async function started(options: object = {}): Promise<Instance> {
  const instance = host.start({ poolSize: 1, egressPath: fakeEgress(host), ...options });
  writeFileSync(`${runDirOf(instance.id)}/resolv.conf`, 'nameserver 9.9.9.9\n');
  await instance.init();
  return instance;
}

const connects = (slot: Slot, to = port, address = publicAddress) => connectTcp(inside(slot), address, to);

describe('a machine with an open network and a secret', () => {
  it('reaches the port of the secret’s host through the gate, and all else as ever', async () => {
    const id = nextId();
    const slot = await instance.acquire(id, open, secretsAt(id, port));
    expect((await askGate(slot, port))?.policy).toEqual({
      ...{ sandbox: id, owner: id, rules: [], open: true },
      secrets: secretsAt(id, port).uses,
      authority: secretsAt(id, port).authority,
    });
    expect(await connects(slot, otherPort)).toBe('hello');
    expect(await sendUdp(inside(slot), publicAddress, port)).toBe('hello');
    expect(await dns(slot)).toBe('ENODATA');
    expect(instance.log()).not.toContain('the whole table is applied');
  });

  it('reaches no private address there', async () => {
    const id = nextId();
    const slot = await instance.acquire(id, open, secretsAt(id, port));
    for (const address of [...forbiddenAddresses.slice(0, 2), slot.gateway]) {
      expect([address, await connects(slot, port, address)]).toEqual([address, 'EHOSTUNREACH']);
      await sleep(400); // The kernel bounds how often it says so.
    }
    expect(instance.events.filter(({ sandbox }) => sandbox === id)).toEqual([]);
  });

  it('may ask the forwarder by TCP when the secret’s host has the port of DNS', async () => {
    const id = nextId();
    const slot = await instance.acquire(id, open, secretsAt(id, 53));
    expect(await dns(slot)).toBe('ENODATA');
    // The forwarder says nothing before it is asked; the gate would.
    expect(await connects(slot, 53, slot.gateway)).toBe('timeout');
    expect((await askGate(slot, 53))?.policy?.sandbox).toBe(id);
  });

  it('loses a connection that went past the gate, and after the secret one that went through it', async () => {
    const id = nextId();
    const slot = await instance.acquire(id, open);
    for (const secrets of [secretsAt(id, port), undefined]) {
      using connection = await openConnection(inside(slot), publicAddress, port);
      using other = await openConnection(inside(slot), publicAddress, otherPort);
      await instance.setNetwork(id, open, secrets);
      await sleep(100); // What was on its way.
      const [ended, before] = [connection.count(), other.count()];
      await sleep(300);
      expect(connection.count()).toBe(ended);
      await expect.poll(() => other.count()).toBeGreaterThan(before);
    }
    expect(await connects(slot)).toBe('hello');
  });

  it('gets other ports when its secrets change, and none without a network', async () => {
    const id = nextId();
    const slot = await instance.acquire(id, open, secretsAt(id, port));
    await instance.setNetwork(id, open, secretsAt(id, otherPort));
    expect(await connects(slot)).toBe('hello');
    expect((await askGate(slot, otherPort))?.policy?.sandbox).toBe(id);
    await instance.setNetwork(id, none, secretsAt(id, port));
    for (const to of [port, otherPort]) expect(await connects(slot, to)).not.toContain('h');
  });
});

describe('a machine with rules and a secret', () => {
  it('reaches the port through the gate even where a rule for addresses allows it', async () => {
    const id = nextId();
    const granted = rules(`tcp://${publicAddress}`);
    const slot = await instance.acquire(id, granted, secretsAt(id, port));
    expect((await askGate(slot, port))?.policy).toMatchObject({
      rules: [`tcp://${publicAddress}`],
      secrets: [{ value }],
      authority: { subject: `Sandhaven sandbox ${id}` },
    });
    expect(await connects(slot, otherPort)).toBe('hello');
    await instance.setNetwork(id, granted);
    expect(await connects(slot)).toBe('hello');
  });
});

describe('without the egress program', () => {
  it('a port of a secret’s host is closed, however often the program is killed', async () => {
    const id = nextId();
    const slot = await instance.acquire(id, open, secretsAt(id, port));
    using trying = await tryInALoop(slot, port);
    using free = await tryInALoop(slot, otherPort);
    for (let round = 0; round < KILLS; round++) {
      const pid = (await askGate(slot, port))?.pid ?? 0;
      process.kill(pid, 'SIGKILL');
      await expect.poll(async () => (await askGate(slot, port))?.pid ?? pid).not.toBe(pid);
    }
    expect((await askGate(slot, port))?.policy?.secrets?.[0]?.value).toBe(value);
    await expect.poll(() => free.seen.greeted).toBeGreaterThan(20);
    expect(trying.seen.greeted).toBe(0);
    expect(free.seen.refused).toBe(0);
  });

  it('a machine gets no secret, no network, and the caller an error', async () => {
    const instance = await started({ egressPath: '/nonexistent' });
    const id = nextId();
    const slot = await instance.acquire(id, open);
    await expect(instance.setNetwork(id, open, secretsAt(id, port))).rejects.toMatchObject({
      code: 'unavailable',
    });
    for (const to of [port, otherPort]) expect(await connects(slot, to)).not.toBe('hello');
    await instance.purge();
  });
});

describe('a restart of the service', () => {
  it.each([
    ['an open network', open],
    ['rules', rules(`tcp://${publicAddress}`)],
  ])('with %s: the port stays closed until the secrets are set anew', async (_, policy) => {
    let instance = await started();
    const id = nextId();
    const slot = await instance.acquire(id, policy, secretsAt(id, port));
    using trying = await tryInALoop(slot, port);
    using free = await tryInALoop(slot, otherPort);
    await instance.kill();
    instance = await started({ instanceId: instance.id });
    await sleep(500);
    expect((await askGate(slot, port))?.policy ?? null).toBeNull();
    await instance.setNetwork(id, policy, secretsAt(id, port));
    expect((await askGate(slot, port))?.policy?.secrets?.[0]?.value).toBe(value);
    expect(trying.seen.greeted).toBe(0);
    expect(free.seen.refused).toBe(0);
    await instance.purge();
  });

  it('finds the ports in force again when another program has emptied their set', async () => {
    const id = nextId();
    const slot = await instance.acquire(id, open, secretsAt(id, port));
    await host.run('nft', 'flush', 'set', 'inet', `sandhaven_${instance.id}`, 'led');
    await expect.poll(() => connects(slot), { timeout: 8_000, interval: 250 }).not.toBe('hello');
    expect((await askGate(slot, port))?.policy?.sandbox).toBe(id);
  });
});

describe('the value of a secret', () => {
  it('is in no file of the service, no environment, no arguments and no log', async () => {
    const [id, refused] = [nextId(), nextId()];
    const slot = await instance.acquire(id, open, secretsAt(id, port));
    // The double quotes what it refuses.
    await expect(
      instance.acquire(refused, rules('https://refused.example.com'), secretsAt(refused, port)),
    ).rejects.toMatchObject({ code: 'unavailable' });
    const pid = (await askGate(slot, port))?.pid;
    const seen = {
      ...{ environ: read(`/proc/${pid}/environ`), cmdline: read(`/proc/${pid}/cmdline`) },
      log: instance.log(),
      ...Object.fromEntries(filesBelow(runDirOf(instance.id)).map((file) => [file, read(file)])),
    };
    expect(seen.log).toContain('network policy is not in force');
    expect(Object.keys(seen)).toContain(`${runDirOf(instance.id)}/slots/${slot.index}/policy`);
    expect(Object.entries(seen).filter(([, text]) => text.includes(value))).toEqual([]);
  });

  it('of a command that is too long ends nothing', async () => {
    const [id, other] = [nextId(), nextId()];
    const slot = await instance.acquire(other, open, secretsAt(other, port));
    const before = await askGate(slot, port);
    const secrets = secretsAt(id, port);
    const long = { ...secrets, uses: secrets.uses.map((use) => ({ ...use, value: 'v'.repeat(1 << 20) })) };
    await expect(instance.acquire(id, open, long)).rejects.toMatchObject({ code: 'unavailable' });
    expect((await askGate(slot, port))?.pid).toBe(before?.pid);
  });
});

describe('the egress program', () => {
  it('gets the variables that name the host’s authorities, and no other', async () => {
    vi.stubEnv('SSL_CERT_FILE', '/etc/ssl/certs/ca-certificates.crt');
    vi.stubEnv('SSL_CERT_DIR', undefined);
    try {
      const instance = await started();
      const id = nextId();
      const slot = await instance.acquire(id, open, secretsAt(id, port));
      const environ = read(`/proc/${(await askGate(slot, port))?.pid}/environ`);
      expect(environ).toBe('SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt\0');
      await instance.purge();
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

/** Asks the gateway for a name by UDP; the forwarder answers AAAA by itself. */
async function dns(slot: Slot): Promise<string> {
  const code = `const dns = new (require('dns').promises.Resolver)({ timeout: 700, tries: 1 });
    dns.setServers(['${slot.gateway}']);
    dns.resolve6('a.test').catch((error) => console.log(error.code));`;
  return (await inside(slot).node(code)).trim();
}

/** Namespaces are pinned as files there, which cannot be read. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !['user', 'net'].includes(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

function read(path: string): string {
  return readFileSync(path, 'utf8');
}
