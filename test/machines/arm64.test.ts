/**
 * The arm64 packages on an emulated machine of such a processor: installed by apt, and each kind of program runs. `make dist-arm64
 * machines-arm64` makes what it needs, which takes long; without packages there is nothing to test.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { processors } from '../../setup/processors/processor.ts';
import { type Machine, startMachine } from './support/machine.ts';
import { makePackagesDisk, type Payload, packagesOf } from './support/payload.ts';

const { arm64 } = processors;
const hasPackages = packagesOf(arm64).length === 2;
const title = hasPackages
  ? 'on arm64, the packages'
  : 'on arm64, the packages (skipped: dist/ lacks them; make dist-arm64 makes them)';
/** Decompressing the base image takes an emulated processor minutes. */
const APT_TIMEOUT = { timeoutMs: 3_000_000 };

describe.runIf(hasPackages)(title, () => {
  let packages: Payload;
  let machine: Machine;

  beforeAll(async () => {
    packages = await makePackagesDisk(arm64);
    machine = await startMachine('trixie', packages.disk, arm64);
  });

  afterAll(async () => {
    await machine?.close();
    await packages?.remove();
  });

  const inside = (command: string) => machine.must(`sandhaven exec it --timeout 600 -- ${command}`);

  it('install, start the service, and show that it works', async () => {
    expect(await machine.must('dpkg --print-architecture')).toBe('arm64\n');
    const install = 'DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes -o Dpkg::Use-Pty=0 install';
    const said = await machine.must(`${install} /srv/packages/*.deb 2>&1`, APT_TIMEOUT);
    expect(said).toMatch(/It works: sandbox created in \d+ ms/);
    expect(await machine.must('systemctl is-active sandhaven')).toBe('active\n');
  });

  it('leave the doctor nothing to find', async () => {
    const { checks } = JSON.parse(await machine.must('sandhaven doctor --json')) as {
      checks: { status: string }[];
    };
    expect(checks.filter(({ status }) => status !== 'ok')).toEqual([]);
  });

  it('run a command in a sandbox of the same processor', async () => {
    await machine.must('sandhaven create --name it');
    expect(await inside('uname --machine')).toBe('aarch64\n');
  });

  it.each([
    ['python', 'print(2 ** 100)', '1267650600228229401496703205376\n'],
    ['javascript', 'console.log([1, 2].map((n) => n * 2).join())', '2,4\n'],
  ])('run %s', async (language, code, stdout) => {
    expect(await machine.must(`sandhaven run --language ${language} --timeout 300 '${code}'`)).toBe(stdout);
  });

  it('import the packages of the base image', async () => {
    expect(await inside(`python3 -c 'import numpy; print(int(numpy.arange(4).sum()))'`)).toBe('6\n');
  });

  it('keep a file, also while the sandbox does not run', async () => {
    await inside(`sh -c 'echo kept > a.txt'`);
    await machine.must('sandhaven stop it && sandhaven start it');
    expect(await inside('cat a.txt')).toBe('kept\n');
  });

  it('delete the sandbox', async () => {
    await machine.must('sandhaven rm it');
    expect(JSON.parse(await machine.must('sandhaven ls --json'))).toMatchObject({ sandboxes: [] });
  });
});
