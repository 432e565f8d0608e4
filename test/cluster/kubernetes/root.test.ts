/** The root file system of a sandbox on Kubernetes: all of it outlives a stop, and nothing leads behind it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Runtime } from '../../../src/control/ports/index.ts';
import { newSandboxId } from '../../../src/model/ids.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import { agentOf, openHost, pushBase, sh } from './host.ts';
import { endAgent } from './processes.ts';

const START_MS = 120_000;

let cluster: Cluster;
let runtime: Runtime;
const made = new Set<string>();

beforeAll(async () => {
  cluster = await startCluster({ nodes: 1 });
  const host = await openHost(cluster, { image: pushBase(cluster.registry) });
  runtime = await host.open();
}, 400_000);
afterEach(async () => {
  for (const id of made) await runtime.destroy(id);
  made.clear();
}, START_MS);
afterAll(async () => {
  await runtime?.close();
  await cluster?.stop();
});

function newSandbox(): { id: string; start(generation: number): Promise<void> } {
  const id = newSandboxId();
  made.add(id);
  const resources = { cpu: 1, memory: 1, disk: 1, gpu: 0 };
  return { id, start: (generation) => runtime.start({ id, imageDigest: 'base', resources }, generation) };
}

const python = (id: string, program: string) => sh(runtime, id, `python3 - <<'PROGRAM'\n${program}\nPROGRAM`);

describe('after a stop and a start', { timeout: START_MS }, () => {
  it('all that was written is there, wherever it was', async () => {
    const { id, start } = newSandbox();
    await start(1);
    await sh(
      runtime,
      id,
      `
      set -e
      echo etc > /etc/added
      sed -i s/root:x/root:y/ /etc/passwd
      mkdir -p /root/deep /opt/empty && echo root > /root/deep/file
      echo usr > /usr/lib/added.so
      echo workspace > /workspace/file && chown 1000:1001 /workspace/file
      chmod 4711 /usr/bin/id
      rm /usr/bin/od
      rm -r /usr/share/common-licenses
      ln /root/deep/file /srv/same
      ln -s ../etc/added /var/link
      mkfifo /var/fifo
      python3 -c 'import os; os.setxattr("/workspace/file", "user.mark", b"kept")'
      cp /usr/bin/cut /usr/bin/cut.dpkg-new && printf '\\nreplaced\\n' >> /usr/bin/cut.dpkg-new
      mv /usr/bin/cut.dpkg-new /usr/bin/cut
      mv /usr/share/doc /usr/share/moved`,
    );
    await runtime.stop(id, 1_000);
    await start(2);
    const seen = await sh(
      runtime,
      id,
      `
      cat /etc/added /root/deep/file /usr/lib/added.so /var/link
      head -1 /etc/passwd
      stat -c '%n %a %U:%G %F' /opt/empty /usr/bin/id /var/fifo
      stat -c '%n %a %u:%g' /workspace/file
      test -e /usr/bin/od || test -e /usr/share/common-licenses || echo both gone
      test /root/deep/file -ef /srv/same && stat -c %h /srv/same
      python3 -c 'import os; print(os.getxattr("/workspace/file", "user.mark"))'
      tail -n 1 /usr/bin/cut
      test -e /usr/share/doc || ls -d /usr/share/moved/bash`,
    );
    expect(seen.split('\n')).toEqual([
      ...['etc', 'root', 'usr', 'etc'],
      'root:y:0:0:root:/root:/bin/bash',
      '/opt/empty 755 root:root directory',
      '/usr/bin/id 4711 root:root regular file',
      '/var/fifo 644 root:root fifo',
      '/workspace/file 644 1000:1001',
      'both gone',
      '2',
      "b'kept'",
      'replaced',
      '/usr/share/moved/bash',
    ]);
  });

  it('files of /etc that belong to one start are new, and their changes stay in memory', async () => {
    const { id, start } = newSandbox();
    await start(1);
    expect(await sh(runtime, id, 'cat /etc/hostname; grep -c . /etc/resolv.conf')).toMatch(
      /^sandbox-.+\n[1-9]/,
    );
    expect(await sh(runtime, id, 'head -c 1M /dev/zero 2>&1 >> /etc/hosts || echo bounded')).toContain(
      'bounded',
    );
    expect(await sh(runtime, id, 'findmnt -no FSTYPE /etc/hosts')).toBe('tmpfs');
    await runtime.stop(id, 1_000);
    await start(2);
    expect(Number(await sh(runtime, id, 'stat -c %s /etc/hosts'))).toBeLessThan(1_000);
  });

  it('kills of the agent at any moment leave a disk that starts, with all that was safe on it', async () => {
    const { id, start } = newSandbox();
    const seed = Date.now() % 100_000;
    await start(1);
    for (let generation = 2; generation <= 7; generation += 1) {
      await sh(runtime, id, `echo ${generation} > /usr/lib/kept-${generation} && sync`);
      endAgentOf(id);
      await runtime.stop(id, 0);
      const starting = start(generation * 10).catch(() => {});
      // While it mounts, or shortly before or after.
      const until = performance.now() + ((seed * generation) % 700);
      while (performance.now() < until) {
        endAgentOf(id);
        await sleep(5);
      }
      await starting;
      await runtime.stop(id, 0);
      await start(generation * 10 + 1);
    }
    expect(await sh(runtime, id, 'cat /usr/lib/kept-*'), `seed ${seed}`).toBe('2\n3\n4\n5\n6\n7');
  }, 200_000);

  it('the disk bounds what is written anywhere, and a full one starts', async () => {
    const { id, start } = newSandbox();
    await start(1);
    const size = Number(await sh(runtime, id, 'df --output=size / | tail -n 1'));
    expect(size).toBeGreaterThan(900_000);
    expect(size).toBeLessThan(2 ** 20);
    const full = await sh(runtime, id, 'cat /dev/zero 2>&1 > /usr/lib/filler || true; echo > /etc/x || true');
    expect(full).toContain('No space left on device');
    await runtime.stop(id, 1_000);
    await start(2);
    expect(
      await sh(runtime, id, 'rm /usr/lib/filler && echo room > /usr/lib/again && cat /usr/lib/again'),
    ).toBe('room');
  });
});

describe('a disk that has kept folders before, for want of an overlay', { timeout: START_MS }, () => {
  it('keeps /workspace and /home with what the image had there, and says so', async () => {
    const { id, start } = newSandbox();
    await start(1);
    const [node] = cluster.nodes;
    // As the agent leaves it on a node that takes no overlay.
    node?.room.run(['sh', '-c', 'for disk in /var/lib/mounted/*; do mkdir "$disk/folders"; done']);
    await runtime.stop(id, 1_000);
    await start(2);
    expect(await agentOf(runtime).hello(id, 2)).toEqual({ persistence: 'folders' });
    await sh(runtime, id, 'echo kept > /workspace/file; mkdir -m 700 /home/user; echo lost > /etc/lost');
    await runtime.stop(id, 1_000);
    await start(3);
    expect(
      await sh(runtime, id, 'cat /workspace/file; stat -c %a /home/user; ls /etc/lost 2>&1 || true'),
    ).toMatch(/^kept\n700\nls: .*No such file/);
    expect(
      await sh(runtime, id, 'ls -A /.sandhaven/disk /.sandhaven/tls | grep -v :$ | grep . || echo hidden'),
    ).toContain('hidden');
    expect(await sh(runtime, id, 'unshare -m true 2>&1 || grep CapBnd /proc/self/status')).toMatch(
      /CapBnd:\s+0{8}/,
    );
  });
});

describe('a program inside', { timeout: START_MS }, () => {
  let id: string;
  beforeAll(async () => {
    const sandbox = newSandbox();
    id = sandbox.id;
    made.delete(id);
    await sandbox.start(1);
  }, START_MS);
  afterAll(() => runtime.destroy(id));

  it('finds no way to the disk, the bare image or the Secret', async () => {
    const found = await python(
      id,
      `
import os
mounts = [line.split() for line in open('/proc/self/mountinfo')]
print('roots', [mount[4] for mount in mounts].count('/'))
print('of the disk', [m[4] for m in mounts if m[m.index('-') + 1] == 'ext4'])
print('folders', sorted(os.listdir('/.sandhaven/disk') + os.listdir('/.sandhaven/tls')))
before = os.stat('/')
os.mkdir('/tmp/jail')
os.chroot('/tmp/jail')
for _ in range(64): os.chdir('..')
after = os.stat('.')
print('escaped', (before.st_dev, before.st_ino) != (after.st_dev, after.st_ino))
os.chroot('.')
open('/root/needle', 'w').close()
names = [os.path.join(folder, name) for folder, _, files in os.walk('/') for name in files]
print('needles', [name for name in names if name.endswith('/needle')])
print('keys', [name for name in names if name.endswith('/tls.key')])
print('other root', os.path.exists('/proc/1/root/etc'), os.readlink('/proc/self/root'))
`,
    );
    expect(found.split('\n')).toEqual([
      'roots 1',
      'of the disk []',
      'folders []',
      'escaped False',
      "needles ['/root/needle']",
      'keys []',
      'other root False /',
    ]);
  });

  it('cannot get the right to mount back, and set-user-id programs work', async () => {
    const status = await sh(runtime, id, "grep -E '^(Cap|NoNewPrivs)' /proc/self/status /proc/1/status");
    const sets = [...status.matchAll(/Cap\w+:\s+([0-9a-f]+)/g)].map(([, bits]) => BigInt(`0x${bits}`));
    expect(sets).toHaveLength(10);
    const SYS_ADMIN = 1n << 21n;
    expect(sets.filter((set) => set & SYS_ADMIN)).toEqual([]);
    expect(status.match(/NoNewPrivs:\s+0/g)).toHaveLength(2);
    const suid = 'cp /usr/bin/id /usr/bin/id-of-root && chmod 4755 /usr/bin/id-of-root';
    expect(await sh(runtime, id, `${suid} && setpriv --reuid 1000 --clear-groups id-of-root -u`)).toBe('0');
  });

  it('makes no call that one machine refuses', async () => {
    const lacking = { keyctl: 250, add_key: 248, io_uring_setup: 425 };
    const calls = {
      mount: 165,
      umount2: 166,
      pivot_root: 155,
      unshare: 272,
      setns: 308,
      bpf: 321,
      fsopen: 430,
      open_tree: 428,
      move_mount: 429,
      mount_setattr: 442,
      perf_event_open: 298,
      fanotify_init: 300,
      quotactl: 179,
      sethostname: 170,
      setdomainname: 171,
      syslog: 103,
      open_by_handle_at: 304,
      userfaultfd: 323,
    };
    const answers = await python(
      id,
      `
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
for name, number in ${JSON.stringify({ ...calls, ...lacking })}.items():
    result = libc.syscall(ctypes.c_long(number), 0, 0, 0, 0, 0, 0)
    print(name, result, errno.errorcode[ctypes.get_errno()])
print('clone', libc.syscall(ctypes.c_long(56), 0x10000000 | 17, 0, 0, 0, 0), errno.errorcode[ctypes.get_errno()])
print('clone3', libc.syscall(ctypes.c_long(435), 0, 0), errno.errorcode[ctypes.get_errno()])
`,
    );
    expect(answers.split('\n')).toEqual([
      ...Object.keys(calls).map((name) => `${name} -1 EPERM`),
      ...Object.keys(lacking).map((name) => `${name} -1 ENOSYS`),
      'clone -1 EPERM',
      'clone3 -1 ENOSYS',
    ]);
  });

  it('has a root that the agent says will last', async () => {
    expect(await agentOf(runtime).hello(id, 1)).toEqual({ persistence: 'root' });
  });
});

function endAgentOf(id: string): void {
  for (const node of cluster.nodes) endAgent(node, id);
}
