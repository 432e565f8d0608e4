/**
 * Clients as people use them, unmodified, each in the network of a sandbox with the rules of a profile or its own. They reach
 * look-alikes of their servers, under the servers' names, which the authority of a sandbox has signed: they believe it by the
 * variables of sandboxes with secrets alone. All run side by side.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NATIVE } from '../../../src/app/parts/installed.ts';
import { networkProfiles } from '../../../src/model/network/profiles.ts';
import { trustVariables } from '../../../src/model/secrets/trust-variables.ts';
import type { Slot } from '../../../src/runtime/oci/machine/slot.ts';
import { batch, createTestHost, type Instance, inside, runDirOf, type TestHost } from '../harness.ts';
import { rules } from '../policies/rules.ts';
import { authorityOfSandbox, type Leaf, signLeaf } from '../secrets/leaf.ts';
import { clients } from './programs.ts';
import { makeRegistries } from './registries.ts';

const address = '203.0.113.80';
const names = Object.keys(clients);
const hosts = [...new Set(Object.values(clients).flatMap((client) => client.hosts))];

let host: TestHost;
let instance: Instance;
let servers: ChildProcess;
let leaf: Leaf;
let folder: string;
const requests: { host: string; method: string; url: string }[] = [];
const results = new Map<string, { output: string; refused: string[]; hosts: string[] }>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-clients-'));
  leaf = makeCertificates();
  makeRegistries(join(folder, 'servers'));
  // A host without files is one that is known.
  mkdirSync(join(folder, 'servers/sum.golang.org'));
  host = await createTestHost();
  await batch(host.outside, ['route add local 203.0.113.0/24 dev lo']);
  servers = await startServers();
  instance = host.start({ poolSize: 2, egressPath: join(NATIVE, 'sandhaven-egress') });
  writeFileSync(`${runDirOf(instance.id)}/resolv.conf`, `nameserver ${address}\n`);
  await instance.init();
  await Promise.all(names.map(run));
}, 180_000);

afterAll(async () => {
  servers?.kill('SIGKILL');
  await host?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** The files that the agent makes inside, and the servers' own. */
function makeCertificates(): Leaf {
  const authority = authorityOfSandbox('sb_0123456789abcdef');
  const made = signLeaf(authority, ...hosts);
  const system = readFileSync('/etc/ssl/certs/ca-certificates.crt', 'utf8');
  for (const [name, text] of Object.entries({
    'authority.pem': authority.certificate,
    'ca-bundle.pem': system + authority.certificate,
    'key.pem': made.key,
    'cert.pem': made.cert,
  })) {
    writeFileSync(join(folder, name), text);
  }
  return made;
}

async function startServers(): Promise<ChildProcess> {
  const program = join(import.meta.dirname, 'lookalikes.ts');
  const files = ['servers', 'key.pem', 'cert.pem'].map((name) => join(folder, name));
  const args = [program, address, ...files];
  const child = spawn('nsenter', [`--net=${host.outside.path}`, process.execPath, ...args]);
  child.stderr.pipe(process.stderr);
  await once(child.stdout, 'data');
  createInterface({ input: child.stdout }).on('line', (line) => requests.push(JSON.parse(line)));
  return child;
}

async function run(name: string, at: number): Promise<void> {
  const client = clients[name] as (typeof clients)[string];
  const id = `sb_${String(at + 1).padStart(16, '0')}`;
  const profile = client.profile === null ? [] : networkProfiles[client.profile].rules;
  const slot = await instance.acquire(id, rules(...profile, ...client.allow));
  const home = join(folder, id);
  mkdirSync(home);
  const output = await outputOf(slot, home, client.script);
  const ofClient = () => instance.events.filter(({ sandbox }) => sandbox === id);
  const unique = (list: (string | null)[]) => [...new Set(list.filter((one) => one !== null))].sort();
  // Events come in batches.
  await new Promise((resolve) => setTimeout(resolve, 300));
  results.set(name, {
    output,
    refused: unique(
      ofClient()
        .filter(({ allowed }) => !allowed)
        .map((event) => event.name),
    ),
    hosts: unique(
      ofClient()
        .filter(({ allowed }) => allowed)
        .map((event) => event.name),
    ),
  });
}

/** Runs a script in a sandbox's network, with its gateway as the resolver, as somebody who has set up nothing. */
async function outputOf(slot: Slot, home: string, script: string): Promise<string> {
  const resolvConf = join(folder, `${slot.address}.conf`);
  writeFileSync(resolvConf, `nameserver ${slot.gateway}\n`);
  const bound = 'mount --bind "$1" /etc/resolv.conf && exec timeout 90 sh -e -c "$2"';
  const child = spawn(
    'nsenter',
    [`--net=${inside(slot).path}`, 'unshare', '--mount', 'sh', '-c', bound, 'sh', resolvConf, script],
    { cwd: home, env: environmentOf(home) },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (piece) => {
      output += piece;
    });
  }
  await once(child, 'close');
  return output;
}

function environmentOf(home: string): NodeJS.ProcessEnv {
  const key = new X509Certificate(leaf.cert).publicKey.export({ type: 'spki', format: 'der' });
  const trusting = Object.entries(trustVariables).map(([name, file]) => [name, join(folder, basename(file))]);
  return {
    PATH: `${process.env['PATH']}:${homedir()}/.cargo/bin`,
    HOME: home,
    RUSTUP_HOME: process.env['RUSTUP_HOME'] ?? join(homedir(), '.rustup'),
    LANG: 'C.UTF-8',
    SPKI: createHash('sha256').update(key).digest('base64'),
    ...Object.fromEntries(trusting),
  };
}

describe.each(names)('%s', (name) => {
  const client = clients[name] as (typeof clients)[string];

  it('does its work', () => {
    expect(results.get(name)?.output).toContain(client.prints);
  });

  it('asks these hosts, and is refused no name but these', () => {
    expect(results.get(name)?.hosts).toEqual(client.hosts);
    const refused = results.get(name)?.refused ?? [];
    expect(refused.filter((one) => !client.background?.test(one))).toEqual(client.refused);
  });
});

it('no server heard of a host that no rule allows', () => {
  expect(requests.length).toBeGreaterThan(names.length);
  expect(requests.filter((request) => !hosts.includes(request.host))).toEqual([]);
});
