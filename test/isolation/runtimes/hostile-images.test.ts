/** Images with links, files and loops where a machine's mounts go: none leads outside, whatever starts the machine. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NATIVE } from '../../../src/app/engine/installed.ts';
import { newSandboxId } from '../../../src/model/ids.ts';
import { HelperFailure } from '../../../src/runtime/oci/host/helper.ts';
import type { OciRuntime } from '../../../src/runtime/oci/runtime.ts';
import {
  createInstance,
  type Instance,
  memoryGroupOf,
  removeInstance,
  runtimeOver,
  soundRunc,
  startsDirectly,
} from '../../runtime/host.ts';

interface Image {
  name: string;
  /** Links by path; `OUTSIDE` stands for a folder of the host. */
  links?: Record<string, string>;
  files?: string[];
  folders?: string[];
  pipes?: string[];
  /** Places that are mounts, with both; or the error of a direct start. */
  expected: string[] | RegExp;
}

const USUAL = [
  '/proc',
  '/dev',
  '/dev/pts',
  '/sys',
  '/sys/fs',
  '/.sandhaven/agent',
  '/etc/hosts',
  '/etc/resolv.conf',
];
const without = (...places: string[]): string[] => USUAL.filter((place) => !places.includes(place));
const MEANT = /sandhaven-launcher: /;

const images: Image[] = [
  { name: 'nothing at all', expected: USUAL },
  {
    name: '/proc as a link',
    links: { '/proc': '/tmp' },
    folders: ['/tmp'],
    expected: /\/proc is no ordinary folder/,
  },
  {
    name: '/proc as a link to the host',
    links: { '/proc': 'OUTSIDE' },
    expected: /\/proc is no ordinary folder/,
  },
  { name: '/proc as a file', files: ['/proc'], expected: /\/proc is no ordinary folder/ },
  {
    name: '/sys as a link',
    links: { '/sys': '/etc' },
    folders: ['/etc'],
    expected: /\/sys is no ordinary folder/,
  },
  {
    name: '/dev as a link to a folder',
    links: { '/dev': '/else' },
    folders: ['/else'],
    expected: [...without('/dev', '/dev/pts'), '/else', '/else/pts'],
  },
  {
    name: '/dev as a link to the host',
    links: { '/dev': '../../../../../../OUTSIDE/dev' },
    expected: [...without('/dev', '/dev/pts'), 'OUTSIDE/dev', 'OUTSIDE/dev/pts'],
  },
  { name: '/dev as a link to the root', links: { '/dev': '/' }, expected: /it is the root itself/ },
  {
    name: '/dev as a link to /proc',
    links: { '/dev': '/proc/self' },
    expected: /prepare \/dev in the image/,
  },
  {
    name: '/etc as a link to the host',
    links: { '/etc': 'OUTSIDE' },
    expected: [...without('/etc/hosts', '/etc/resolv.conf'), 'OUTSIDE/hosts', 'OUTSIDE/resolv.conf'],
  },
  { name: '/etc as a link to a process', links: { '/etc': '/proc/1/root' }, expected: MEANT },
  { name: '/etc as a link to /proc', links: { '/etc': '/proc' }, expected: MEANT },
  {
    name: '/etc as a loop',
    links: { '/etc': '/a', '/a': '/etc' },
    expected: /Too many levels of symbolic links/,
  },
  {
    name: '/etc/hosts as a link to a file of /proc',
    links: { '/etc/hosts': '/proc/uptime' },
    expected: /in a file system of the kernel/,
  },
  {
    name: '/etc/hosts as a link to a descriptor',
    links: { '/etc/hosts': '/proc/self/fd/0' },
    expected: /prepare \/etc\/hosts in the image/,
  },
  { name: '/etc/hosts as a folder', folders: ['/etc/hosts'], expected: /a file stands for a folder/ },
  { name: '/etc/hosts as a pipe', pipes: ['/etc/hosts'], expected: USUAL },
  {
    name: '/etc/resolv.conf as a link to nothing',
    links: { '/etc/resolv.conf': '../run/systemd/resolve/stub-resolv.conf' },
    expected: [...without('/etc/resolv.conf'), '/run/systemd/resolve/stub-resolv.conf'],
  },
  {
    name: '/etc/resolv.conf as a link to a missing file of the host',
    links: { '/etc/resolv.conf': 'OUTSIDE/made' },
    expected: [...without('/etc/resolv.conf'), 'OUTSIDE/made'],
  },
  {
    name: '/.sandhaven as a link to the host',
    links: { '/.sandhaven': 'OUTSIDE' },
    expected: [...without('/.sandhaven/agent'), 'OUTSIDE/agent'],
  },
  {
    name: 'the agent as a link to the program that starts it',
    links: { '/.sandhaven/agent': '/proc/self/exe' },
    expected: /prepare \/.sandhaven\/agent in the image/,
  },
];

let scratch: string;
let outside: string;
let instance: Instance;
let rootfs = '';

beforeAll(() => {
  instance = createInstance();
  scratch = mkdtempSync(join(tmpdir(), 'sandhaven-images-'));
  outside = join(scratch, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'hosts'), 'of the host');
});

afterAll(async () => {
  await removeInstance(instance);
  rmSync(scratch, { recursive: true });
});

describe.runIf(startsDirectly).each(['direct', 'runc'] as const)('%s, with an image that has', (kind) => {
  let runtime: OciRuntime;

  beforeAll(async () => {
    const agentPath = join(NATIVE, 'sandhaven-agent');
    const machineRuntime = kind === 'direct' ? { kind } : { kind, runcPath: soundRunc() };
    runtime = runtimeOver(instance, { machineRuntime, agentPath, rootfsPath: () => rootfs });
    await runtime.init();
  });
  afterAll(() => runtime.close());

  it.each(images)('$name', { timeout: 60_000 }, async (image) => {
    rootfs = make(image);
    const before = listing();
    const id = newSandboxId();
    const spec = { id, imageDigest: 'hostile', resources: { cpu: 1, memory: 1, disk: 1, gpu: 0 } };
    const failure = await runtime.start(spec, 1).then(
      () => null,
      (error: Error) => error,
    );
    const places = failure === null ? mountsOf(id) : [];
    await runtime.destroy(id);
    expect(listing()).toEqual(before);
    expect(readFileSync(join(outside, 'hosts'), 'utf8')).toBe('of the host');
    if (image.expected instanceof RegExp) {
      if (kind === 'direct') expect(saidBy(failure)).toMatch(image.expected);
      return;
    }
    expect({ failure, places }).toEqual({
      failure: null,
      places: expect.arrayContaining(image.expected.map(inside)),
    });
  });
});

const inside = (path: string): string => path.replace('OUTSIDE', outside);

function make({ links = {}, files = [], folders = [], pipes = [] }: Image): string {
  const root = mkdtempSync(join(scratch, 'rootfs-'));
  execFileSync('chmod', ['755', root]);
  const at = (path: string): string => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    return join(root, path);
  };
  for (const path of folders) mkdirSync(at(path), { recursive: true });
  for (const path of files) writeFileSync(at(path), '');
  for (const path of pipes) execFileSync('mkfifo', [at(path)]);
  for (const [path, target] of Object.entries(links)) symlinkSync(inside(target), at(path));
  return root;
}

/** All that an image could reach for, and the image itself. */
function listing(): string[] {
  return execFileSync('find', [scratch, '-printf', '%p %m %U %s\n'], { encoding: 'utf8' })
    .split('\n')
    .toSorted();
}

function mountsOf(id: string): string[] {
  const [pid] = readFileSync(`${memoryGroupOf(instance, id)}/cgroup.procs`, 'utf8').split('\n');
  const lines = readFileSync(`/proc/${pid}/mountinfo`, 'utf8').trim().split('\n');
  return lines.map((line) => line.split(' ')[4] ?? '');
}

function saidBy(error: Error | null): string {
  return error?.cause instanceof HelperFailure ? error.cause.stderr : `no failure of the launcher: ${error}`;
}
