/** What of an operator's CDI specifications counts, and what of hostile, broken and stale ones does not. */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { parseCdiSpec } from '../../../src/runtime/oci/gpu/cdi-spec.ts';
import { createInventory, type Inventory } from '../../../src/runtime/oci/gpu/inventory.ts';
import { makeNode } from '../../support/cdi.ts';

const DEVICE_NODES = 64;
const SPEC_BYTES = 2 * 1024 * 1024;

const KIND = 'nvidia.com/gpu';
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-cdi-'));
  for (const name of ['low', 'high', 'host']) mkdirSync(join(folder, name), { mode: 0o755 });
});
afterEach(() => rmSync(folder, { recursive: true }));

const host = (name: string) => join(folder, 'host', name);
const write = (name: string, contents: unknown) =>
  writeFileSync(join(folder, name), typeof contents === 'string' ? contents : JSON.stringify(contents));
const inventory = (names: string[] | null = null): Promise<Inventory> =>
  createInventory([join(folder, 'low'), join(folder, 'high')], { kind: KIND, names })();

const node = (minor: number, path = `/dev/gpu${minor}`) => ({ path, type: 'c', major: 240, minor });
const device = (name: string, ...minors: number[]) => ({
  name,
  containerEdits: { deviceNodes: minors.map((minor) => node(minor)) },
});
const spec = (devices: object[], more: object = {}) => ({
  cdiVersion: '0.5.0',
  kind: KIND,
  devices,
  ...more,
});
const names = ({ gpus }: Inventory) => gpus.map(({ name }) => name);

describe('the GPUs of a host', () => {
  it('are whole devices of the kind, each once, however many names it has', async () => {
    write(
      'low/a.json',
      spec([
        device('1', 1, 101),
        device('10', 10),
        device('0', 0, 100),
        device('GPU-8c0f', 0, 100),
        device('0:1', 0, 200),
        device('MIG-77aa', 0, 201),
        device('all', 0, 100, 1, 101, 10),
      ]),
    );
    write('low/b.json', spec([device('other', 7)], { kind: 'nvidia.com/mig' }));
    const found = await inventory();
    expect(names(found)).toEqual(['0', '1', '10']);
    expect(found.problems).toEqual([]);
    expect(found.gpus[0]?.hardware).toEqual(['c:240:0', 'c:240:100']);
  });

  it('are parts of one when the operator names those', async () => {
    write('low/a.json', spec([device('0', 0), device('0:0', 0, 200), device('0:1', 0, 201), device('1', 1)]));
    expect(names(await inventory(['0:0', '0:1']))).toEqual(['0:0', '0:1']);
    const both = await inventory(['0', '0:1', '5']);
    expect(names(both)).toEqual(['0']);
    expect(both.problems).toEqual([`${KIND}=5: there is none`, `${KIND}=0:1: the same hardware as 0`]);
  });

  it('share what their specification has for all of them', async () => {
    const common = { deviceNodes: [node(255, '/dev/gpuctl')], env: ['A=common', 'B=x=y'] };
    const own = { ...device('0', 0).containerEdits, env: ['A=own'] };
    write(
      'low/a.json',
      spec([{ name: '0', containerEdits: own }, device('1', 1)], { containerEdits: common }),
    );
    const [zero, one] = (await inventory()).gpus;
    expect(zero?.env).toEqual({ A: 'own', B: 'x=y' });
    expect(one?.env).toEqual({ A: 'common', B: 'x=y' });
    expect(one?.devices.nodes.map(({ path }) => path)).toEqual(['/dev/gpuctl', '/dev/gpu1']);
  });

  it('are numbered as on the host where the specification gives no number', async () => {
    makeNode(host('big'), { type: 'c', major: 3_000, minor: 70_000 });
    makeNode(host('disk'), { type: 'b', major: 7, minor: 300 });
    const deviceNodes = [
      { path: '/dev/big', hostPath: host('big'), permissions: 'rm' },
      { path: '/dev/disk', hostPath: host('disk'), fileMode: 0o440, uid: 3, gid: 44 },
    ];
    write('low/a.json', spec([{ name: '0', containerEdits: { deviceNodes } }]));
    expect((await inventory()).gpus[0]?.devices.nodes).toEqual([
      { path: '/dev/big', type: 'c', major: 3_000, minor: 70_000, mode: 0o666, uid: 0, gid: 0, access: 'r' },
      { path: '/dev/disk', type: 'b', major: 7, minor: 300, mode: 0o440, uid: 3, gid: 44, access: 'rw' },
    ]);
  });

  it('are read from YAML as nvidia-ctk writes it', async () => {
    write('host/libcuda.so.580.95.05', 'x');
    symlinkSync('libcuda.so.580.95.05', host('libcuda.so.1'));
    symlinkSync('libcuda.so.1', host('libcuda.so'));
    symlinkSync('../../elsewhere/libcuda.so.580.95.05', host('libcuda.so.2'));
    write(
      'low/nvidia.yaml',
      `---
cdiVersion: 0.5.0
containerEdits:
  env:
  - NVIDIA_VISIBLE_DEVICES=void
  deviceNodes:
  - path: /dev/nvidiactl
    major: 195
    minor: 255
    type: c
  hooks:
  - args:
    - nvidia-cdi-hook
    - update-ldcache
    - --folder
    - /usr/lib/x86_64-linux-gnu
    hookName: createContainer
    path: /usr/bin/nvidia-cdi-hook
  mounts:
  - containerPath: /usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05
    hostPath: ${host('libcuda.so.580.95.05')}
    options:
    - ro
    - nosuid
    - nodev
    - bind
devices:
- containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
      major: 195
      type: c
  name: "0"
kind: nvidia.com/gpu
`,
    );
    const { gpus, problems, leftOut } = await inventory();
    expect(problems).toEqual([]);
    expect(leftOut).toEqual(['hook']);
    expect(gpus).toMatchObject([
      { name: '0', hardware: ['c:195:0'], env: { NVIDIA_VISIBLE_DEVICES: 'void' } },
    ]);
    expect(gpus[0]?.devices.mounts.map(({ destination }) => destination).toSorted()).toEqual(
      ['', '.1', '.580.95.05'].map((end) => `/usr/lib/x86_64-linux-gnu/libcuda.so${end}`),
    );
  });

  it('are those of the later folder where both have one of a name', async () => {
    write('low/a.json', spec([device('0', 5), device('1', 1)]));
    write('high/a.json', spec([device('0', 0)]));
    expect((await inventory()).gpus.map(({ hardware }) => hardware)).toEqual([['c:240:0'], ['c:240:1']]);
  });

  it('are neither where one folder has two of a name', async () => {
    for (const name of ['a', 'b', 'c']) write(`low/${name}.json`, spec([device('0', 0)]));
    const { gpus, problems } = await inventory();
    expect(gpus).toEqual([]);
    expect(problems.join()).toMatch(/b\.json: device 0 is in another specification of the folder too/);
  });

  it('follow a specification that changes, and a driver that is loaded later', async () => {
    const look = createInventory([join(folder, 'low')], { kind: KIND, names: null });
    expect(names(await look())).toEqual([]);
    const late = {
      name: '1',
      containerEdits: { deviceNodes: [{ path: '/dev/late', hostPath: host('late') }] },
    };
    write('low/a.json', spec([device('0', 0), late]));
    expect(await look()).toMatchObject({ problems: [`${KIND}=1: ${host('late')} is not there`] });
    makeNode(host('late'), { type: 'c', major: 240, minor: 9 });
    expect(names(await look())).toEqual(['0', '1']);
    write('low/a.json', spec([device('2', 2)]));
    utimesSync(join(folder, 'low/a.json'), 1, 1);
    expect(names(await look())).toEqual(['2']);
  });
});

describe('not handed out, with the reason for the operator', () => {
  const withEdits = (edits: object) =>
    spec([{ name: '0', containerEdits: { ...device('0', 0).containerEdits, ...edits } }]);
  const nodes = (...deviceNodes: object[]) => spec([{ name: '0', containerEdits: { deviceNodes } }]);

  it.each<[string, unknown, RegExp]>([
    ['no JSON', '{', /JSON/],
    ['a list', '[]', /expected object/i],
    ['an unknown version', spec([], { cdiVersion: '2.0.0' }), /cdiVersion: not a version/],
    ['a version before there were any', spec([], { cdiVersion: '0.2.0' }), /cdiVersion/],
    ['a kind without vendor', spec([], { kind: 'gpu' }), /kind: not vendor/],
    ['two devices of one name', spec([device('0', 0), device('0', 1)]), /same name/],
    ['a name that is a path', spec([device('../0', 0)]), /devices.0.name/],
    ['a node outside of /dev', nodes(node(0, '/etc/passwd')), /not below \/dev/],
    ['a node that goes up', nodes(node(0, '/dev/../etc/x')), /not a plain path/],
    ['a node in place of a standard one', nodes(node(0, '/dev/null')), /standard device/],
    ['a node below a standard one', nodes(node(0, '/dev/pts/5')), /standard device/],
    ['a pipe', nodes({ ...node(0), type: 'p' }), /type/],
    ['a number that is none', nodes({ ...node(0), minor: -1 }), /minor/],
    ['no node of its own', spec([{ name: '0', containerEdits: {} }]), /no device node of its own/],
    ['a file for a node', nodes({ path: '/dev/x', hostPath: '/etc/passwd' }), /another kind of file/],
    [
      'a mount over /proc',
      withEdits({ mounts: [{ hostPath: '/etc', containerPath: '/proc/x' }] }),
      /may mount at/,
    ],
    [
      'a mount over the root',
      withEdits({ mounts: [{ hostPath: '/etc', containerPath: '/' }] }),
      /may mount at/,
    ],
    [
      'a mount over the agent',
      withEdits({ mounts: [{ hostPath: '/etc', containerPath: '/.sandhaven/agent' }] }),
      /may mount at/,
    ],
    [
      'a mount of what is gone',
      withEdits({ mounts: [{ hostPath: '/no/lib.so', containerPath: '/lib.so' }] }),
      /has the driver changed/,
    ],
    ['a variable without value', withEdits({ env: ['A'] }), /env/],
    ['too many nodes', nodes(...Array.from({ length: DEVICE_NODES + 1 }, (_, i) => node(i))), /deviceNodes/],
    ['a specification over its size', ' '.repeat(SPEC_BYTES + 1), /bytes/],
  ])('%s', async (_, contents, reason) => {
    write('low/a.json', contents);
    const { gpus, problems } = await inventory();
    expect(gpus).toEqual([]);
    expect(problems.join('\n')).toMatch(reason);
  });

  it('a specification that aliases itself into something huge', async () => {
    write('low/a.yaml', `kind: ${KIND}\na: &a [x]\nb: [*a, *a]\n`);
    expect((await inventory()).problems.join()).toMatch(/alias/i);
  });

  it.each<[string, (file: string) => void, RegExp]>([
    ['a file of another user', (file) => chownSync(file, 1_000, 0), /it is writable by users/],
    ['a file that others may write', (file) => chmodSync(file, 0o646), /it is writable by users/],
    [
      'a folder that others may write',
      (file) => chmodSync(join(file, '..'), 0o777),
      /writable by users other than root/,
    ],
    [
      'a link',
      (file) => {
        rmSync(file);
        symlinkSync('/etc/hostname', file);
      },
      /symbolic link/,
    ],
    [
      'a device',
      (file) => {
        rmSync(file);
        makeNode(file, { type: 'c', major: 1, minor: 5 });
      },
      /not a regular file/,
    ],
  ])('%s', async (_, spoil, reason) => {
    write('low/a.json', spec([device('0', 0)]));
    expect(names(await inventory())).toEqual(['0']);
    spoil(join(folder, 'low/a.json'));
    const { gpus, problems } = await inventory();
    expect(gpus).toEqual([]);
    expect(problems.join()).toMatch(reason);
  });

  it('a second GPU of which a path means something else', async () => {
    const edits = { deviceNodes: [node(3, '/dev/gpu0')] };
    write('low/a.json', spec([device('0', 0), { name: '1', containerEdits: edits }]));
    const found = await inventory();
    expect(names(found)).toEqual(['0']);
    expect(found.problems.join()).toMatch(/path in common with 0/);
  });
});

describe('left out, and reported', () => {
  it('hooks, groups of the host, mounts of other types and sockets of the host', async () => {
    // A folder of daemons by the path's beginning, wherever TMPDIR is; and a socket's path is short.
    const daemons = mkdtempSync('/tmp/sandhaven-cdi-');
    onTestFinished(() => rmSync(daemons, { recursive: true }));
    const [socket, daemon] = [join(daemons, 'daemon.sock'), join(daemons, 'daemon')];
    const server = createServer().listen(socket);
    onTestFinished(() => void server.close());
    mkdirSync(daemon);
    const edits = {
      ...device('0', 0).containerEdits,
      hooks: [{ hookName: 'createContainer', path: '/bin/false' }],
      additionalGids: [44],
      intelRdt: {},
      mounts: [
        { hostPath: socket, containerPath: '/run/daemon.sock' },
        { hostPath: daemon, containerPath: '/run/daemon' },
        { hostPath: '/run/nobody/socket', containerPath: '/run/nobody/socket' },
      ],
    };
    const other = { ...edits, mounts: [{ hostPath: 'tmpfs', containerPath: '/x', type: 'tmpfs' }] };
    write(
      'low/a.json',
      spec([
        { name: '0', containerEdits: edits },
        { name: '1', containerEdits: { ...other, deviceNodes: [node(1)] } },
      ]),
    );
    const { gpus, problems, leftOut } = await inventory();
    expect(problems).toEqual([]);
    expect(gpus.map(({ devices }) => devices.mounts)).toEqual([[], []]);
    expect(leftOut).toEqual([
      'additionalGid',
      'hook',
      'intelRdt',
      'mount of another type',
      'socket of the host',
    ]);
  });
});

describe('parsing', () => {
  it('of anything whatever gives a specification or an error with a reason', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue(),
          fc.record({
            cdiVersion: fc.constant('0.6.0'),
            kind: fc.constant(KIND),
            devices: fc.jsonValue(),
            containerEdits: fc.jsonValue(),
          }),
        ),
        (document) => {
          try {
            expect(parseCdiSpec(document).devices).toBeInstanceOf(Map);
          } catch (error) {
            expect((error as Error).message.length).toBeGreaterThan(0);
          }
        },
      ),
    );
  });
});
