/**
 * Clients as people use them, unmodified, each in the network of a sandbox with the rules of a profile or its own. They reach
 * look-alikes of their servers, under the servers' names, with a secret for these hosts, which opens their connections; those that
 * can have none, and in the part `network` all, as they are too. What signed the servers' certificates they believe by the
 * variables of sandboxes with secrets alone: with a secret that is their sandbox's own authority, otherwise the servers'. All
 * run side by side.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { NATIVE } from '../../../src/app/engine/installed.ts';
import { trustVariables } from '../../../src/control/reach/secret-uses.ts';
import { networkProfiles } from '../../../src/model/network/profiles.ts';
import type { SecretUse } from '../../../src/model/secrets/use.ts';
import type { Slot } from '../../../src/runtime/oci/host/plan.ts';
import type { MachineSecrets } from '../../../src/runtime/oci/network/policies.ts';
import { inPart } from '../../deep/parts.ts';
import { batch, createTestHost, type Instance, inside, runDirOf, type TestHost } from '../harness.ts';
import { rules } from '../policies/rules.ts';
import { authorityOfSandbox, type Leaf, signLeaf } from '../secrets/leaf.ts';
import { secretsAt } from '../secrets/machine-secrets.ts';
import { type Client, clients } from './programs.ts';
import { makeRegistries } from './registries.ts';

const address = '203.0.113.80';
/** These have lists of authorities of their own, or speak no TLS. */
const withoutSecret = ['chromium', 'Playwright', 'apt', 'git over http, with a push'];
const cases = Object.keys(clients).flatMap((name) => {
  if (withoutSecret.includes(name)) return [{ name, hasSecret: false }];
  return [...(inPart('network') ? [{ name, hasSecret: false }] : []), { name, hasSecret: true }];
});
type Case = (typeof cases)[number];
const hosts = [...new Set(Object.values(clients).flatMap((client) => client.hosts))];

let host: TestHost;
let instance: Instance;
let servers: ChildProcess;
let leaf: Leaf;
let folder: string;
const requests: { host: string; method: string; url: string }[] = [];
const results = new Map<Case, { output: string; refused: string[]; hosts: string[]; secrets: string[] }>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-clients-'));
  leaf = makeCertificates();
  makeRegistries(join(folder, 'servers'));
  // A host without files is one that is known.
  mkdirSync(join(folder, 'servers/sum.golang.org'));
  host = await createTestHost();
  await batch(host.outside, ['route add local 203.0.113.0/24 dev lo']);
  servers = await startServers();
  vi.stubEnv('SSL_CERT_FILE', join(folder, 'ca-bundle.pem'));
  instance = host.start({ poolSize: 2, egressPath: join(NATIVE, 'sandhaven-egress') });
  writeFileSync(`${runDirOf(instance.id)}/resolv.conf`, `nameserver ${address}\n`);
  await instance.init();
  await Promise.all(cases.map(run));
}, 180_000);

afterAll(async () => {
  vi.unstubAllEnvs();
  servers?.kill('SIGKILL');
  await host?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** The files that the agent makes inside, and the servers' own. */
function makeCertificates(): Leaf {
  const authority = authorityOfSandbox('sb_0123456789abcdef');
  const made = signLeaf(authority, ...hosts);
  writeAuthority(folder, authority.certificate);
  writeFileSync(join(folder, 'key.pem'), made.key);
  writeFileSync(join(folder, 'cert.pem'), made.cert);
  return made;
}

function writeAuthority(at: string, certificate: string): void {
  const system = readFileSync('/etc/ssl/certs/ca-certificates.crt', 'utf8');
  writeFileSync(join(at, 'authority.pem'), certificate);
  writeFileSync(join(at, 'ca-bundle.pem'), system + certificate);
}

/** One secret for all that the client asks by TLS. */
function secretsOf(id: string, client: Client): MachineSecrets {
  const { uses, authority } = secretsAt(id);
  const targets = client.hosts.map((host) => ({ host, port: 443, methods: [], path: null }));
  const ofAnthropic: Partial<SecretUse> = client.hosts.includes('api.anthropic.com')
    ? { place: { in: 'header', name: 'x-api-key', format: '{secret}' } }
    : {};
  return { authority, uses: uses.map((use) => ({ ...use, ...ofAnthropic, targets })) };
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

async function run(one: Case, at: number): Promise<void> {
  const client = clients[one.name] as Client;
  const id = `sb_${String(at + 1).padStart(16, '0')}`;
  const profile = client.profile === null ? [] : networkProfiles[client.profile].rules;
  const secrets = one.hasSecret ? secretsOf(id, client) : undefined;
  const slot = await instance.acquire(id, rules(...profile, ...client.allow), secrets);
  const [home, trusted] = [join(folder, id), one.hasSecret ? join(folder, `${id}-trusted`) : folder];
  mkdirSync(home);
  if (one.hasSecret) {
    mkdirSync(trusted);
    writeAuthority(trusted, authorityOfSandbox(id).certificate);
  }
  const key = secrets?.uses[0]?.placeholder ?? 'sk-tests';
  const output = await outputOf(slot, client.script, environmentOf(home, trusted, key));
  const ofClient = () => instance.events.filter(({ sandbox }) => sandbox === id);
  const unique = (list: (string | null | undefined)[]) =>
    [...new Set(list.filter((one) => one != null))].sort();
  // Events come in batches.
  await new Promise((resolve) => setTimeout(resolve, 300));
  results.set(one, {
    output,
    secrets: unique(ofClient().map(({ secret }) => secret)),
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
async function outputOf(slot: Slot, script: string, env: NodeJS.ProcessEnv): Promise<string> {
  const resolvConf = join(folder, `${slot.address}.conf`);
  writeFileSync(resolvConf, `nameserver ${slot.gateway}\n`);
  const bound = 'mount --bind "$1" /etc/resolv.conf && exec timeout 90 sh -e -c "$2"';
  const child = spawn(
    'nsenter',
    [`--net=${inside(slot).path}`, 'unshare', '--mount', 'sh', '-c', bound, 'sh', resolvConf, script],
    { cwd: env['HOME'], env },
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

function environmentOf(home: string, trusted: string, apiKey: string): NodeJS.ProcessEnv {
  const key = new X509Certificate(leaf.cert).publicKey.export({ type: 'spki', format: 'der' });
  const trusting = Object.entries(trustVariables).map(([name, file]) => [
    name,
    join(trusted, basename(file)),
  ]);
  return {
    PATH: `${process.env['PATH']}:${homedir()}/.cargo/bin`,
    HOME: home,
    RUSTUP_HOME: process.env['RUSTUP_HOME'] ?? join(homedir(), '.rustup'),
    LANG: 'C.UTF-8',
    OPENAI_API_KEY: apiKey,
    ANTHROPIC_API_KEY: apiKey,
    SPKI: createHash('sha256').update(key).digest('base64'),
    ...Object.fromEntries(trusting),
  };
}

describe.each(cases)('$name, with a secret: $hasSecret', (one) => {
  const client = clients[one.name] as Client;
  const result = () => results.get(one);

  it('does its work', () => {
    const prints = one.hasSecret ? client.prints.replaceAll('key-of-tests', 'its-secret') : client.prints;
    expect(result()?.output).toContain(prints);
  });

  it('has the secret put into its requests, where there is one', () => {
    expect(result()?.secrets).toEqual(one.hasSecret ? ['se_0123456789abcdef'] : []);
  });

  it('asks these hosts, and is refused no name but these', () => {
    expect(result()?.hosts).toEqual(client.hosts);
    const refused = result()?.refused ?? [];
    expect(refused.filter((one) => !client.background?.test(one))).toEqual(client.refused);
  });
});

it('no server heard of a host that no rule allows', () => {
  expect(requests.length).toBeGreaterThan(cases.length);
  expect(requests.filter((request) => !hosts.includes(request.host))).toEqual([]);
});
