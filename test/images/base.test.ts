/** The project's own images: what is in the base image, and how they come from the cache into a data directory. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';
import { createImages } from '../../src/runtime/images/images.ts';
import { createTestHelpers, gatesIn, unpackPath } from './helpers.ts';
import { put } from './registry/registry.ts';

const log = { info() {}, warn() {}, error() {} };

let scratch: string;
let programs: string[];

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'sandhaven-base-'));
  programs = [];
});

afterEach(async () => {
  await rm(scratch, { recursive: true, force: true });
});

function open(dataDir: string, cacheDir: string) {
  return createImages({
    dataDir: join(scratch, dataDir),
    cacheDir,
    helpers: createTestHelpers(programs),
    unpackPath,
    gates: gatesIn(scratch),
    log,
  });
}

describe('the base image in a data directory', () => {
  it('[WIRE-UP-08] is there within seconds, sharing its files with the cache', async () => {
    const images = open('data', defaultCacheDir());
    await images.init();
    const started = performance.now();
    const { digest, workingDir } = await images.ensure('base');
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(workingDir).toBe('/workspace');
    const cached = join(defaultCacheDir(), 'base/current/rootfs/usr/bin/python3.13');
    const taken = join(images.rootfsPath(digest), 'usr/bin/python3.13');
    if (statSync(cached).dev === statSync(taken).dev) expect(statSync(taken).ino).toBe(statSync(cached).ino);
    expect(readFileSync(taken).equals(readFileSync(cached))).toBe(true);
  });

  it('is found at once from then on', async () => {
    makeCache('one');
    const images = open('data', join(scratch, 'cache'));
    await images.init();
    const [first, same] = await Promise.all([images.ensure('base'), images.ensure('base')]);
    expect(same).toEqual(first);
    expect(programs.filter((line) => line.startsWith('cp'))).toHaveLength(1);
    programs.length = 0;
    expect(await images.ensure('base')).toEqual(first);
    expect(await open('data', join(scratch, 'cache')).ensure('base')).toEqual(first);
    expect(programs).toEqual([]);
  });

  it('follows the cache, and keeps the old one for sandboxes that stand on it', async () => {
    makeCache('one');
    const images = open('data', join(scratch, 'cache'));
    await images.init();
    const first = await images.ensure('base');
    await rm(join(scratch, 'cache'), { recursive: true });
    makeCache('two');
    const second = await images.ensure('base');
    expect(second.digest).not.toBe(first.digest);
    expect(readFileSync(join(images.rootfsPath(first.digest), 'name'), 'utf8')).toBe('one');
    expect(readFileSync(join(images.rootfsPath(second.digest), 'name'), 'utf8')).toBe('two');
  });

  it('is copied where the cache and the data are two mounts of one disk, between which no links are', async () => {
    makeCache('one');
    const mounts = ['cache', 'data'].map((name) => join(scratch, `${name}-mounted`));
    for (const mount of mounts) {
      mkdirSync(mount);
      mkdirSync(mount.replace('-mounted', ''), { recursive: true });
      execFileSync('mount', ['--bind', mount.replace('-mounted', ''), mount]);
    }
    try {
      const [cache, data] = mounts.map((mount) => statSync(mount).dev);
      expect(cache).toBe(data);
      const images = open('data-mounted', join(scratch, 'cache-mounted'));
      await images.init();
      const { digest } = await images.ensure('base');
      expect(readFileSync(join(images.rootfsPath(digest), 'name'), 'utf8')).toBe('one');
      expect(readdirSync(join(scratch, 'data/images/tmp'))).toEqual([]);
    } finally {
      for (const mount of mounts) execFileSync('umount', [mount]);
    }
  });

  it('outlives the cache', async () => {
    makeCache('one');
    const images = open('data', join(scratch, 'cache'));
    await images.init();
    const first = await images.ensure('base');
    await rm(join(scratch, 'cache'), { recursive: true });
    expect(await open('data', join(scratch, 'cache')).ensure('base')).toEqual(first);
  });

  it.each([
    ['base', 'make image'],
    ['documentdb', 'sandhaven demo-db'],
  ])('%s is unavailable without a cache, and the hint shows how to make it', async (name, hint) => {
    const images = open('data', join(scratch, 'cache'));
    await images.init();
    await expect(images.ensure(name)).rejects.toMatchObject({
      code: 'unavailable',
      fields: { hint: expect.stringContaining(hint) },
    });
    expect(readdirSync(join(scratch, 'data/images/tmp'))).toEqual([]);
  });
});

describe('the image of the document database', () => {
  it('comes from the cache by its name, beside the base image, and stays when others are collected', async () => {
    makeCache('one');
    makeCache('two', 'documentdb');
    const images = open('data', join(scratch, 'cache'));
    await images.init();
    expect(images.check('documentdb')).toBe('documentdb');
    const [base, documentDb] = [await images.ensure('base'), await images.ensure('documentdb')];
    expect(documentDb.digest).not.toBe(base.digest);
    expect(readFileSync(join(images.rootfsPath(documentDb.digest), 'name'), 'utf8')).toBe('two');
    await images.collect({ inUse: async () => new Set(), unusedSince: Date.now() + 1_000 });
    expect(await images.get(documentDb.digest)).not.toBeNull();
    expect(await images.get(base.digest)).not.toBeNull();
  });
});

describe('the base image', () => {
  const rootfs = join(defaultCacheDir(), 'base/current/rootfs');

  it('[WIRE-ROOT-05] has the stated commands, Python 3.13 with its packages, and Node 24 with npm', () => {
    const commands =
      'bash ls ps ip ping mount xxd file less unzip git curl rg ssh gcc make python python3 pip node npm npx apt-get';
    const script = [
      'set -e',
      `for command in ${commands}; do command -v $command >/dev/null || { echo "no $command"; exit 1; }; done`,
      'python3 -c "import venv, numpy, pandas, matplotlib.pyplot, requests, sys; print(sys.version_info[:2])"',
      'node -e "const x = process.versions.node; console.log(x.split(\\".\\")[0])"',
      'npm --version >/dev/null',
    ].join('\n');
    expect(inside(script)).toBe('(3, 13)\n24\n');
  });

  it('runs TypeScript, and imports matplotlib without listing fonts anew', () => {
    expect(inside('echo "const x: number = 2; console.log(x)" >/tmp/x.ts; node /tmp/x.ts')).toBe('2\n');
    expect(inside('MPLBACKEND=agg python3 -c "import matplotlib.pyplot" 2>&1')).toBe('');
  });

  it('has fonts for Chinese, Japanese, Korean and emoji, bold too: no label of a chart is a box', () => {
    const chart = [
      'import matplotlib.pyplot as plt',
      'plt.title("销售额 繁體 売上高グラフ 매출 그래프", fontweight="bold")',
      'plt.bar(["中文", "日本語", "한국어", "😀🚀🥰🫠"], [3, 5, 2, 4], label="❤️ ✅ 📈")',
      'plt.legend()',
      'plt.savefig("/tmp/chart.png")',
    ].join('\n');
    expect(inside(`MPLBACKEND=agg python3 -W error -c '${chart}' 2>&1`)).toBe('');
  });

  it('has the locales that clients name most: C.UTF-8, and en_US.UTF-8', () => {
    expect(inside('locale -a')).toBe('C\nC.utf8\nPOSIX\nen_US.utf8\n');
    expect(inside('LC_ALL=en_US.UTF-8 locale charmap 2>&1; LC_ALL=en_US.UTF-8 perl -e "print 1" 2>&1')).toBe(
      'UTF-8\n1',
    );
  });

  it('lets git work in a repository of another owner, as the Git tools do', () => {
    expect(
      inside('git init -q /tmp/r; chown -R 1000 /tmp/r; git -C /tmp/r status --short --branch 2>&1'),
    ).toBe('## No commits yet on master\n');
  });

  it('has folders for manuals, which stay out: packages link alternatives of theirs there, and fail without', () => {
    const manual = '--slave /usr/share/man/man1/a.1.gz a.1.gz /tmp/a.1.gz';
    const install = `update-alternatives --quiet --install /usr/bin/a a /tmp/a 1 ${manual} 2>&1`;
    expect(inside(`touch /tmp/a /tmp/a.1.gz; ${install}; echo $?`)).toBe('0\n');
  });

  it('lets pip install beside what Debian installed, and apt work as root', () => {
    expect(inside('pip install --dry-run --no-index --no-deps numpy 2>&1')).not.toMatch(/externally-managed/);
    expect(inside('apt-config dump APT::Sandbox::User')).toBe('APT::Sandbox::User "root";\n');
  });

  it('has nothing of the machine that built it: no devices, names, lists or ids past 65,535', () => {
    expect(readdirSync(join(rootfs, 'dev'))).toEqual([]);
    expect(readdirSync(join(rootfs, 'var/lib/apt/lists'))).toEqual([]);
    expect(readFileSync(join(rootfs, 'etc/hostname'), 'utf8')).toBe('sandbox\n');
    expect(readFileSync(join(rootfs, 'etc/resolv.conf'), 'utf8')).toBe('');
    expect(existsSync(join(rootfs, 'etc/machine-id'))).toBe(false);
    const strange = [
      '-xdev',
      '(',
      '-uid',
      '+65535',
      '-o',
      '-gid',
      '+65535',
      '-o',
      '-type',
      'b',
      '-o',
      '-type',
      'c',
      ')',
    ];
    expect(execFileSync('find', [rootfs, ...strange], { encoding: 'utf8' })).toBe('');
    expect(lstatSync(join(rootfs, 'workspace')).isDirectory()).toBe(true);
  });

  /** In a throw-away overlay, so that the cache stays as it is. */
  function inside(script: string): string {
    const work = join(scratch, 'work');
    const setUp = [
      'set -e',
      'mount -t tmpfs tmpfs "$1"',
      'mkdir "$1/upper" "$1/work" "$1/root"',
      'mount -t overlay overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" "$1/root"',
      'mount -t proc proc "$1/root/proc"',
      'mount --bind /dev "$1/root/dev"',
      'exec chroot "$1/root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/bin:/usr/sbin:/usr/bin bash -c "$3"',
    ].join('\n');
    mkdirSync(work, { recursive: true });
    const args = ['--mount', '--propagation', 'private', 'sh', '-c', setUp, 'sh', work, rootfs, script];
    return execFileSync('unshare', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }
});

/** A cache with a very small image. */
function makeCache(name: string, image = 'base'): void {
  const folder = join(scratch, 'cache', image);
  put(join(folder, name), 'rootfs/name', name);
  const digest = Buffer.from(name).toString('hex').padEnd(64, '0');
  const config = { env: {}, entrypoint: [], cmd: [], workingDir: '/workspace', user: '' };
  writeFileSync(
    join(folder, name, 'image.json'),
    JSON.stringify({ digest, reference: image, sizeBytes: 3, ...config }),
  );
  symlinkSync(name, join(folder, 'current'));
}
