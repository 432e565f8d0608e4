/** `sandhaven doctor`: its verdicts on machines unlike this one, and its output and exit status. */
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { SandhavenError } from '../../src/model/errors.ts';
import { type DoctorFacts, runDoctor } from '../../src/surfaces/cli/doctor.ts';
import { certificate } from '../../src/surfaces/cli/doctor-certificate.ts';
import { documents } from '../../src/surfaces/cli/doctor-documents.ts';
import { nftables, runc } from '../../src/surfaces/cli/doctor-engine.ts';
import { gpus } from '../../src/surfaces/cli/doctor-gpus.ts';
import { fileSystems, kernel, node, openFiles } from '../../src/surfaces/cli/doctor-host.ts';
import { disk, listeningPorts, memory, ports } from '../../src/surfaces/cli/doctor-room.ts';

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
    expect((await certificate(undefined, 0)).status).toBe('ok');
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

  it('file systems that are not loaded, by their whole names', () => {
    expect(fileSystems('nodev\toverlay\n\text4\n').status).toBe('ok');
    expect(fileSystems('nodev\tnotoverlay\n\text4\n')).toMatchObject({
      status: 'warn',
      found: 'overlay not loaded yet',
    });
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
    expect((await documents(undefined)).status).toBe('ok');
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

  it('an nftables that the kernel does not have a failure', async () => {
    const answers = (list: string | null) => async (_: string, args: string[]) =>
      args[0] === '--version' ? 'nftables v1.0.6\n' : list;
    expect(await nftables({ tryProgram: answers('') })).toEqual({ status: 'ok', found: 'nftables v1.0.6' });
    expect(await nftables({ tryProgram: answers(null) })).toMatchObject({ status: 'fail' });
    expect(await nftables({ tryProgram: async () => null })).toMatchObject({ found: 'nft is missing' });
  });

  it('room by what is free', () => {
    expect([disk('/d', GiB), disk('/d', 10 * GiB), disk('/d', 50 * GiB)].map(({ status }) => status)).toEqual(
      ['fail', 'warn', 'ok'],
    );
    const available = (gib: number) =>
      memory(`MemTotal: 99 kB\nMemAvailable:   ${(gib * GiB) / 1024} kB\n`).status;
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

  it('a port in use by the kernel’s own table', () => {
    const table = `  sl  local_address rem_address   st tx_queue
   0: 0100007F:1CFC 00000000:0000 0A 00000000:00000000 00:00000000
   1: 0100007F:1CFD 0100007F:1111 01 00000000:00000000 00:00000000
`;
    expect(listeningPorts(table)).toEqual([7420]);
    expect(ports(['127.0.0.1:7420'], new Set([7420]))).toMatchObject({ status: 'warn' });
    expect(ports(['127.0.0.1:7420'], new Set([7421]))).toMatchObject({ status: 'ok' });
  });
});

describe('doctor', () => {
  const facts: DoctorFacts = {
    addresses: ['127.0.0.1:1'],
    tryProgram: async (path) => (path.endsWith('/runc') ? 'runc version 1.1.5' : null),
    runcPath: '/usr/sbin/runc',
    judgeRunc: (output) => ({ version: output.trim(), vulnerable: true }),
    builtPrograms: ['/none/sandhaven-agent'],
    readBaseImage: async () => null,
    examineGpus: async () => ({ kind: 'a.b/gpu', names: [], held: 0, problems: [], leftOut: [] }),
  };

  it('ends with 1 and advice for each check that fails, and prints one row a check', async () => {
    const { status, output } = await run([], facts);
    expect(status).toBe(1);
    expect(output).toMatch(/^fail {2}runc +runc version 1.1.5.*CVE-2025-31133/m);
    expect(output).toMatch(/^fail {2}base image .*\n +→ Run 'make image'/m);
    expect(output).toMatch(/^fail {2}agent .*\n +→ Run 'make build'/m);
    expect(output).toMatch(/\d+ ok, \d+ to mind, \d+ failed\n$/);
  });

  it('says the same in JSON', async () => {
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
