/** `sandhaven doctor`: its verdicts on machines unlike this one, and its output and exit status. */
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DoctorFacts } from '../../../src/control/ports/doctor-facts.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { runDoctor } from '../../../src/surfaces/cli/doctor/doctor.ts';
import { gpus, links, networkRules, nftables, runc } from '../../../src/surfaces/cli/doctor/engine.ts';
import { delegation, fileSystems, kernel, node, openFiles } from '../../../src/surfaces/cli/doctor/host.ts';
import { ports } from '../../../src/surfaces/cli/doctor/ports.ts';
import { copies, dataDirectory, disk, memory } from '../../../src/surfaces/cli/doctor/room.ts';
import {
  archives,
  certificate,
  clientNames as checkClientNames,
  documents,
} from '../../../src/surfaces/cli/doctor/service.ts';

const GiB = 2 ** 30;

describe('doctor judges', () => {
  it.each([
    ['6.1.0-37-amd64', 'ok'],
    ['5.19.0', 'ok'],
    ['5.18.9', 'fail'],
    ['4.19.0', 'fail'],
    ['odd', 'fail'],
  ])('a kernel %s: %s', (version, status) => {
    expect(kernel(version).status).toBe(status);
  });

  it('a Node before 24, and few open files', () => {
    expect(node('22.1.0').status).toBe('fail');
    expect(node('24.0.0').status).toBe('ok');
    expect(
      openFiles('Max open files            1024                 1024                 files').status,
    ).toBe('warn');
    expect(
      openFiles('Max open files            1024                 unlimited            files').status,
    ).toBe('ok');
  });

  it('a certificate, by its time', async () => {
    const day = 86_400_000;
    const judged = async (validFrom: number, validTo: number) =>
      certificate(async () => ({ names: ['DNS:*.example.com'], validFrom, validTo }), 10 * day);
    expect((await certificate(null, 0)).status).toBe('ok');
    expect(await judged(0, 100 * day)).toEqual({
      status: 'ok',
      found: 'for DNS:*.example.com, valid until 1970-04-11',
    });
    expect((await judged(0, 20 * day)).status).toBe('warn');
    expect((await judged(0, 10 * day)).status).toBe('fail');
    expect((await judged(11 * day, 99 * day)).status).toBe('fail');
    const broken = new SandhavenError('failed_precondition', 'cannot be read', { hint: 'Give another.' });
    expect(await certificate(() => Promise.reject(broken), 0)).toEqual({
      status: 'fail',
      found: 'cannot be read',
      advice: 'Give another.',
    });
  });

  it('file systems by their whole names, and those that are not listed by trying to mount them', async () => {
    const lists = ['nodev\tnotoverlay\n\text4\n', 'nodev\tnotoverlay\nnodev\toverlay\n\text4\n'];
    const tried: string[][] = [];
    const tryProgram = async (_: string, args: string[]) => {
      tried.push(args);
      return null;
    };
    let reads = 0;
    expect((await fileSystems({ tryProgram }, async () => lists[reads++] ?? '')).status).toBe('ok');
    expect(tried).toEqual([['--mount', 'mount', '-t', 'overlay', 'none', '/etc']]);
    expect(await fileSystems({ tryProgram }, async () => lists[0] ?? '')).toMatchObject({
      status: 'fail',
      found: 'this kernel has no overlay',
      advice: expect.stringContaining('modprobe overlay'),
    });
  });

  it('control groups of v2 by whether they can be handed on', () => {
    const root = { handedOn: ['cpu'], isHostRoot: false, processes: 3 };
    expect(delegation(root)?.status).toBe('fail');
    expect(delegation({ ...root, isHostRoot: true })).toBeNull();
    expect(delegation({ ...root, processes: 0 })).toBeNull();
    expect(delegation({ ...root, handedOn: ['cpu', 'memory', 'pids', 'io'] })).toBeNull();
  });

  it('a vulnerable runc a failure, unless it is allowed', () => {
    const facts = { runcPath: '/usr/sbin/runc', judgeRunc: () => ({ version: '1.1.5', vulnerable: true }) };
    expect(runc('runc version 1.1.5', facts, false)).toMatchObject({
      status: 'fail',
      advice: expect.stringMatching(/make setup/),
    });
    expect(runc('runc version 1.1.5', facts, true).status).toBe('warn');
    expect(runc(null, facts, true).status).toBe('fail');
    const sound = { ...facts, judgeRunc: () => ({ version: '1.3.6', vulnerable: false }) };
    expect(runc('runc version 1.3.6', sound, false)).toEqual({
      status: 'ok',
      found: '1.3.6 (/usr/sbin/runc)',
    });
  });

  it('credentials of the document database that could write worth a warning, and one that is out of reach a failure', async () => {
    expect((await documents(null)).status).toBe('ok');
    expect((await documents(async () => false)).status).toBe('ok');
    expect(await documents(async () => true)).toMatchObject({
      status: 'warn',
      found: expect.stringMatching(/could write/),
    });
    expect((await documents(async () => null)).status).toBe('warn');
    const gone = new SandhavenError('unavailable', 'The document database refuses connections.', {
      hint: 'Start it.',
    });
    expect(await documents(() => Promise.reject(gone))).toEqual({
      status: 'fail',
      found: gone.message,
      advice: 'Start it.',
    });
  });

  it('a bucket for archives that cannot be used a failure', async () => {
    expect((await archives(null)).status).toBe('ok');
    expect(await archives(async () => 's3://bucket/a at https://s3.example.com')).toEqual({
      status: 'ok',
      found: 'in s3://bucket/a at https://s3.example.com',
    });
    const gone = new SandhavenError('failed_precondition', 'The archive store cannot be used: it is away.', {
      hint: 'Start it.',
    });
    expect(await archives(() => Promise.reject(gone))).toEqual({
      status: 'fail',
      found: gone.message,
      advice: 'Start it.',
    });
  });

  it('an nftables that the kernel does not have a failure, and so a kernel without veth', async () => {
    const tryProgram = async () => 'nftables v1.0.6\n';
    expect(await nftables({ tryProgram, tryRules: async () => null })).toEqual({
      status: 'ok',
      found: 'nftables v1.0.6',
    });
    expect(await nftables({ tryProgram, tryRules: async () => 'Operation not supported' })).toMatchObject({
      status: 'fail',
      found: expect.stringContaining('Operation not supported'),
      advice: expect.stringContaining('modprobe nf_tables'),
    });
    const nothing = { tryProgram: async () => null, tryRules: async () => null };
    expect(await nftables(nothing)).toMatchObject({ status: 'fail', found: 'nft is missing' });
    expect(await links(nothing)).toMatchObject({
      status: 'fail',
      advice: expect.stringContaining('modprobe veth'),
    });
    expect((await links({ tryProgram })).status).toBe('ok');
  });

  it('a kernel that takes no network rules as one to know of', async () => {
    expect((await networkRules({ tryNetworkRules: async () => null })).status).toBe('ok');
    expect(
      await networkRules({ tryNetworkRules: async () => 'Error: Could not process rule' }),
    ).toMatchObject({
      status: 'warn',
      found: expect.stringContaining('Could not process rule'),
      advice: expect.stringContaining('modprobe nft_socket'),
    });
  });

  it('room by what is free', () => {
    expect([disk('/d', GiB), disk('/d', 10 * GiB), disk('/d', 50 * GiB)].map(({ status }) => status)).toEqual(
      ['fail', 'warn', 'ok'],
    );
    const promised = (gib: number) => ({ promisedBytes: gib * GiB, heldBytes: 10 * GiB });
    expect(disk('/d', 50 * GiB, promised(60)).status).toBe('ok');
    expect(disk('/d', 50 * GiB, promised(61))).toMatchObject({
      status: 'warn',
      found: '50.0 GiB free for /d; sandbox disks take 10.0 GiB and may grow by 51.0 GiB',
      advice: expect.stringContaining('--disk-overcommit'),
    });
    const available = (gib: number) => memory(gib * GiB).status;
    expect([available(0.5), available(1.5), available(8)]).toEqual(['fail', 'warn', 'ok']);
  });

  it('GPUs, those in use, and what keeps others from being one', () => {
    const found = { kind: 'a.b/gpu', names: ['0', '1'], held: 1, problems: [], leftOut: ['hook'] };
    expect(gpus(found)).toEqual({
      status: 'ok',
      found: '2 of a.b/gpu: 0, 1; 1 in use; left out of their specification: hook',
    });
    const broken = gpus({ ...found, names: [], held: 0, leftOut: [], problems: ['a', 'b', 'c', 'd'] });
    expect(broken).toMatchObject({ status: 'warn', found: 'none of a.b/gpu (a; b; c; and 1 more)' });
    expect(broken.advice).toMatch(/nvidia-ctk/);
  });

  it('a taken port a failure where `up` would not take another, and its own service’s none', async () => {
    const server = createServer().listen({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const api = { flag: '--listen', host: '127.0.0.1', port, givesWay: false };
    const previews = { ...api, flag: '--preview-listen', givesWay: true };
    expect(await ports([api, previews], false)).toEqual({
      status: 'fail',
      found: `127.0.0.1:${port} is taken by another program`,
      advice: 'Stop the program that listens there, or give another address: --listen (SANDHAVEN_LISTEN).',
    });
    expect((await ports([previews], false)).status).toBe('warn');
    expect((await ports([api], true)).status).toBe('ok');
    server.close();
    await once(server, 'close');
    expect((await ports([api], false)).status).toBe('ok');
    expect(await ports([{ ...previews, host: '192.0.2.1' }], false)).toMatchObject({
      status: 'fail',
      found: expect.stringContaining('is no address of this machine'),
    });
  });

  it('the names of E2B’s clients by https, a name server and the certificate', async () => {
    const looked: string[] = [];
    const clientNames = {
      ...{ domain: 'box.example.com', isTls: true },
      async lookUp(name: string) {
        looked.push(name);
        return ['192.0.2.1'];
      },
    };
    const readCertificate = async () => ({
      ...{ names: ['DNS:box.example.com', 'DNS:*.box.example.com'], validFrom: 0, validTo: 1 },
    });
    const facts = { clientNames, readCertificate };
    expect(await checkClientNames(facts)).toEqual({
      ...{ status: 'ok', found: 'clients of E2B find *.box.example.com' },
    });
    expect(looked).toEqual(['api.box.example.com', '49983-0123456789abcdef.box.example.com']);
    const plain = { ...facts, clientNames: { ...clientNames, isTls: false } };
    expect(await checkClientNames(plain)).toMatchObject({
      ...{ status: 'warn', found: 'clients of E2B ask by https, and *.box.example.com is served by HTTP' },
      advice: expect.stringMatching(/--tls-cert.*E2B_API_URL/),
    });
    const unknown = { ...clientNames, lookUp: () => Promise.reject(new Error('ENOTFOUND')) };
    expect(await checkClientNames({ ...facts, clientNames: unknown })).toMatchObject({
      ...{ status: 'warn', found: 'no name server knows api.box.example.com' },
    });
    const bare = async () => ({ names: ['DNS:box.example.com'], validFrom: 0, validTo: 1 });
    expect(await checkClientNames({ clientNames, readCertificate: bare })).toMatchObject({
      ...{ status: 'warn', found: 'the certificate has no *.box.example.com' },
    });
    // A proxy before the service has it.
    expect((await checkClientNames({ clientNames, readCertificate: null })).status).toBe('ok');
    expect((await checkClientNames({ clientNames: null, readCertificate: null })).status).toBe('ok');
  });

  it('copies of disks by a note, which is no failure', () => {
    const folder = '/data';
    expect(copies({ folder, clones: true })).toEqual({
      status: 'ok',
      found: 'clones, which share their bytes (/data)',
    });
    expect(copies({ folder, clones: false })).toMatchObject({
      status: 'ok',
      found: 'byte by byte: the file system of /data has no reflinks',
      advice: expect.stringContaining('`sandhaven up --disk-store xfs`'),
    });
    expect(copies({ folder, clones: null })).toEqual({ status: 'ok', found: 'not known for /data' });
  });

  it('a data directory by what it is', async () => {
    const root = mkdtempSync(join(tmpdir(), 'sandhaven-doctor-'));
    onTestFinished(() => rmSync(root, { recursive: true }));
    const facts = { otherService: () => null };
    expect((await dataDirectory(join(root, 'a/b'), facts)).status).toBe('ok');
    expect(existsSync(join(root, 'a'))).toBe(false);
    writeFileSync(join(root, 'file'), '');
    expect(await dataDirectory(join(root, 'file'), facts)).toMatchObject({ status: 'fail' });
    mkdirSync(join(root, 'open/sub'), { recursive: true, mode: 0o755 });
    expect(await dataDirectory(join(root, 'open'), facts)).toMatchObject({
      status: 'fail',
      found: `other users can enter ${root}/open`,
    });
    const copy = { found: 'taken', advice: 'delete it' };
    expect(await dataDirectory(root, { otherService: () => copy })).toEqual({ status: 'fail', ...copy });
  });
});

describe('doctor', () => {
  const facts: DoctorFacts = {
    addresses: [],
    missingPublicNames: null,
    isServed: () => false,
    otherService: () => null,
    findOrphans: async () => [],
    cgroups: () => [],
    availableMemoryBytes: async () => 8 * GiB,
    examineDisks: async (folder) => ({ folder, freeBytes: 40 * GiB, clones: false }),
    tryRules: async () => null,
    tryNetworkRules: async () => null,
    tryProgram: async (path) => (path.endsWith('/runc') ? 'runc version 1.1.5' : null),
    machineRuntime: async () => ({ kind: 'runc', why: 'no direct start: cgroup v2' }),
    runcPath: '/usr/sbin/runc',
    judgeRunc: (output) => ({ version: output.trim(), vulnerable: true }),
    builtPrograms: ['/none/sandhaven-agent'],
    readBaseImage: async () => null,
    examineGpus: async () => ({ kind: 'a.b/gpu', names: [], held: 0, problems: [], leftOut: [] }),
    readCertificate: null,
    clientNames: null,
    proveArchiveStore: null,
    couldWriteDocuments: null,
  };

  it('ends with 1 and advice for each check that fails, and prints one row a check', async () => {
    const { status, output } = await run([], facts);
    expect(status).toBe(1);
    expect(output).toMatch(/^fail {2}runc +runc version 1.1.5.*CVE-2025-31133/m);
    expect(output).toMatch(/^fail {2}base image .*\n +→ Run 'make image'/m);
    expect(output).toMatch(/^fail {2}agent .*\n +→ Run 'make build'/m);
    expect(output).toMatch(/\d+ ok, \d+ warned, \d+ failed\n$/);
  });

  it('names what starts machines, and does without runc where that is the launcher', async () => {
    const direct = {
      ...facts,
      machineRuntime: async () => ({ kind: 'direct' as const, why: 'the quickest here' }),
    };
    const { output } = await run([], direct);
    expect(output).toMatch(/^ok {4}machine runtime +direct: the quickest here$/m);
    expect(output).toMatch(/^ok {4}runc +not used/m);
    expect((await run([], facts)).output).toMatch(
      /^ok {4}machine runtime +runc: no direct start: cgroup v2$/m,
    );
  });

  it('takes a choice that this host does not allow for a failure', async () => {
    const machineRuntime = async () => {
      throw new Error('Machines cannot be started directly: cgroup v2.');
    };
    const { output } = await run([], { ...facts, machineRuntime });
    expect(output).toMatch(/^fail {2}machine runtime +Machines cannot be started directly/m);
    expect(output).toMatch(/^fail {2}runc /m);
  });

  it('shows the same in JSON', async () => {
    const { status, output } = await run(['--json', '--allow-vulnerable-runc'], facts);
    const { ok, checks } = JSON.parse(output);
    expect([status, ok]).toEqual([1, false]);
    for (const check of checks)
      expect(Object.keys(check)).toEqual(expect.arrayContaining(['name', 'status', 'found']));
    expect(checks.find(({ name }: { name: string }) => name === 'runc').status).toBe('warn');
  });

  it('goes on when one check cannot be made', async () => {
    const broken = { ...facts, readBaseImage: () => Promise.reject(new Error('unreadable')) };
    const { status, output } = await run(['--json'], broken);
    expect(status).toBe(1);
    expect(JSON.parse(output).checks).toContainEqual(
      expect.objectContaining({ name: 'base image', status: 'fail', found: 'unreadable' }),
    );
  });

  it('refuses a flag that it does not know', async () => {
    await expect(run(['--jsno'], facts)).rejects.toMatchObject({ code: 'invalid_argument' });
  });
});

async function run(argv: string[], facts: DoctorFacts): Promise<{ status: number; output: string }> {
  let output = '';
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      output += chunk;
      done();
    },
  });
  const { stdin, stderr, env } = process;
  const io: Parameters<typeof runDoctor>[1] = {
    stdin,
    stdout,
    stderr,
    env,
    signal: new AbortController().signal,
  };
  return { status: await runDoctor(argv, io, facts), output };
}
