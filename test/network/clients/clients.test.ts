/**
 * Clients as people use them, unmodified, each in the network of a sandbox with the rules of a profile or its own. They reach
 * look-alikes of their servers, under the servers' names; all run side by side.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NATIVE } from '../../../src/app/parts/installed.ts';
import { networkProfiles } from '../../../src/model/network/profiles.ts';
import type { Slot } from '../../../src/runtime/oci/machine/slot.ts';
import { type MadeCertificate, makeCertificate } from '../../support/certificates.ts';
import { batch, createTestHost, type Instance, inside, runDirOf, type TestHost } from '../harness.ts';
import { rules } from '../policies/rules.ts';
import { clients } from './programs.ts';
import { makeRegistries } from './registries.ts';

const address = '203.0.113.80';
const names = Object.keys(clients);
const hosts = [...new Set(Object.values(clients).flatMap((client) => client.hosts))];

let host: TestHost;
let instance: Instance;
let servers: ChildProcess;
let certificate: MadeCertificate;
let folder: string;
const requests: { host: string; method: string; url: string }[] = [];
const results = new Map<string, { output: string; refused: string[]; hosts: string[] }>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-clients-'));
  certificate = makeCertificate(hosts.map((name) => `DNS:${name}`));
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
  certificate?.remove();
  await host?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function startServers(): Promise<ChildProcess> {
  const program = join(import.meta.dirname, 'lookalikes.ts');
  const args = [program, address, join(folder, 'servers'), certificate.keyFile, certificate.certFile];
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
  const authority = certificate.certFile;
  const key = new X509Certificate(certificate.pem()).publicKey.export({ type: 'spki', format: 'der' });
  return {
    PATH: `${process.env['PATH']}:${homedir()}/.cargo/bin`,
    HOME: home,
    RUSTUP_HOME: process.env['RUSTUP_HOME'] ?? join(homedir(), '.rustup'),
    LANG: 'C.UTF-8',
    SPKI: createHash('sha256').update(key).digest('base64'),
    // Each client has a name of its own for the authorities that it believes.
    SSL_CERT_FILE: authority,
    PIP_CERT: authority,
    NODE_EXTRA_CA_CERTS: authority,
    npm_config_cafile: authority,
    CARGO_HTTP_CAINFO: authority,
    GIT_SSL_CAINFO: authority,
    CURL_CA_BUNDLE: authority,
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
