/** The images of the service and of the agent: what is in them, and that a container runs them. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runcFolder } from '../../setup/cluster/folders.ts';
import { makeOciImage } from '../../setup/images/oci-images.ts';
import { version } from '../../src/home.ts';
import { blobPath, blobsOf, filesOf, readLayout, unpack } from './layout.ts';

const names = ['sandhaven', 'sandhaven-agent'] as const;

let work: string;
let service: string;
let agent: string;

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'sandhaven-oci-'));
  [service, agent] = [join(work, 'sandhaven.oci'), join(work, 'sandhaven-agent.oci')];
  for (const name of names) {
    const made = await makeOciImage(name, work);
    console.info(`${name}: ${((made?.bytes ?? 0) / 1e6).toFixed(1)} MB`);
  }
});

afterAll(() => rm(work, { recursive: true, force: true }));

describe('each image', () => {
  it.each(names)('%s is a layout whose blobs have their names, sizes and types', (name) => {
    const folder = join(work, `${name}.oci`);
    const { index, manifest, config } = readLayout(folder);
    expect(JSON.parse(readFileSync(join(folder, 'oci-layout'), 'utf8'))).toEqual({
      imageLayoutVersion: '1.0.0',
    });
    const blobs = blobsOf(folder);
    for (const [file, { digest }] of Object.entries(blobs)) expect(digest).toBe(file);
    for (const { digest, size } of [...index.manifests, manifest.config, ...manifest.layers]) {
      expect(blobs[digest.replace('sha256:', '')]?.size).toBe(size);
    }
    expect(index.manifests[0]?.mediaType).toBe('application/vnd.oci.image.manifest.v1+json');
    expect(manifest.config.mediaType).toBe('application/vnd.oci.image.config.v1+json');
    const plain = manifest.layers.map(({ mediaType, digest }) => {
      expect(mediaType).toBe('application/vnd.oci.image.layer.v1.tar+zstd');
      const tar = execFileSync('zstd', ['-dcq', blobPath(folder, digest)], { maxBuffer: 2 ** 30 });
      return `sha256:${createHash('sha256').update(tar).digest('hex')}`;
    });
    expect(config.rootfs.diff_ids).toEqual(plain);
  });

  it.each(names)(
    '%s has the same digest when it is made again',
    async (name) => {
      const before = readLayout(join(work, `${name}.oci`)).index.manifests[0]?.digest;
      const again = await makeOciImage(name, join(work, 'again'));
      expect(again?.digest).toBe(before);
    },
    60_000,
  );

  it.each(names)('%s is understood by a foreign program', (name) => {
    const said = execFileSync('skopeo', ['inspect', `oci:${join(work, `${name}.oci`)}`], {
      encoding: 'utf8',
    });
    const { Os, Labels } = JSON.parse(said);
    expect(Os).toBe('linux');
    expect(Labels).toMatchObject({
      'org.opencontainers.image.licenses': 'Apache-2.0',
      'org.opencontainers.image.version': expect.stringMatching(/^\d+\.\d+\.\d+$/),
    });
  });
});

describe('the image of the agent', () => {
  it('has one file, which needs no other', () => {
    expect(filesOf(agent)).toEqual([{ mode: '-rwxr-xr-x', owner: '0/0', path: 'sandhaven-agent' }]);
    const root = join(work, 'agent');
    unpack(agent, root);
    const headers = execFileSync('readelf', ['--program-headers', join(root, 'sandhaven-agent')], {
      encoding: 'utf8',
    });
    expect(headers).not.toContain('INTERP');
  });
});

describe('the image of the service', () => {
  it('runs as an ordinary user', () => {
    const { config } = readLayout(service).config;
    expect(config).toMatchObject({ User: '10001:10001', Cmd: ['up'], StopSignal: 'SIGTERM' });
    expect(config.Entrypoint.at(0)).toBe('/usr/local/bin/node');
  });

  it('has no shell, compiler, package manager, dev package, history or secret', () => {
    const paths = filesOf(service).map(({ path }) => path.replace(/\/$/, ''));
    const has = (pattern: RegExp) => paths.filter((path) => pattern.test(path));
    expect(paths).toContain('opt/sandhaven/node_modules/fastify');
    expect(paths).toContain(`opt/sandhaven/packages/dist/sandhaven-mcp-${version}.tgz`);
    expect(paths).toContain('etc/ssl/certs/ca-certificates.crt');
    expect(has(/(^|\/)(sh|bash|dash|busybox|gcc|cc|ld|npm|npx|apt|apt-get|perl|python3?)$/)).toEqual([]);
    expect(
      has(/node_modules\/(vitest|typescript|@biomejs|@types|fast-check|puppeteer-core|rolldown)(\/|$)/),
    ).toEqual([]);
    expect(has(/(^|\/)\.(git|npmrc|docker|env|ssh|cache)(\/|$)/)).toEqual([]);
    expect(has(/\.(key|p12|db|node)$/)).toEqual([]);
    expect(has(/\.test\.[cm]?[jt]s$/)).toEqual([]);
  });

  it('has no file that its user could change, but its data directory and /tmp', () => {
    const files = filesOf(service);
    const own = files.filter(({ owner }) => owner !== '0/0');
    expect(own).toEqual([{ mode: 'drwx------', owner: '10001/10001', path: 'var/lib/sandhaven/' }]);
    const open = files.filter(({ mode }) => mode[0] !== 'l' && mode[8] === 'w');
    expect(open).toEqual([{ mode: 'drwxrwxrwt', owner: '0/0', path: 'tmp/' }]);
    expect(files.filter(({ mode }) => /s/i.test(mode))).toEqual([]);
    const unread = files.filter(
      ({ mode, owner }) => owner === '0/0' && !/^(?:d..x..xr.[xt]|-......r..|l)/.test(mode),
    );
    expect(unread).toEqual([]);
  });

  it('runs in a container as its user, over a read-only root', () => {
    const bundle = join(work, 'bundle');
    mkdirSync(bundle);
    unpack(service, join(bundle, 'rootfs'));
    const { config } = readLayout(service).config;
    const run = (...command: string[]) => inContainer(bundle, config.Env, command);
    expect(run(...config.Entrypoint, '--version')).toMatch(/^sandhaven \d+\.\d+\.\d+\n/);
    expect(run(...config.Entrypoint, 'up', '--help')).toMatch(/^Usage: sandhaven up/);
    expect(run('/usr/local/bin/sandhaven', '--version')).toMatch(/^sandhaven \d+\.\d+\.\d+\n/);
    const imports = [
      'src/app/up.ts',
      'src/app/copy-store.ts',
      'src/surfaces/mcp/stdio.ts',
      'src/app/engine/engine.ts',
    ];
    const loaded = `for (const path of ${JSON.stringify(imports)}) await import('/opt/sandhaven/' + path);
      for (const name of ['pg', 'ssh2', 'mongodb', 'yaml']) createRequire('/opt/sandhaven/src/main.ts')(name);
      console.log('loaded');`;
    const load = `import { createRequire } from 'node:module'; ${loaded}`;
    expect(run('/usr/local/bin/node', '--input-type=module', '--eval', load)).toBe('loaded\n');
    const probe = `
      const { lookup } = await import('node:dns/promises');
      const fs = await import('node:fs');
      let write = 'written';
      try { fs.writeFileSync('/opt/x', ''); } catch (error) { write = error.code; }
      const { address } = await lookup('localhost');
      console.log(JSON.stringify([process.getuid(), process.pid, write, address]));`;
    const said = run('/usr/local/bin/node', '--input-type=module', '--eval', probe);
    expect(JSON.parse(said)).toEqual([10_001, 1, 'EROFS', '127.0.0.1']);
  });
});

/** Runs a command to its end with the rights that the chart gives; returns its output. */
function inContainer(bundle: string, env: string[], args: string[]): string {
  const own = join(runcFolder, 'runc');
  const runc = existsSync(own) ? own : 'runc';
  const namespaces = ['pid', 'mount', 'ipc', 'uts', 'network'].map((type) => ({ type }));
  const tmpfs = (destination: string) => ({ destination, type: 'tmpfs', source: 'tmpfs' });
  writeFileSync(join(bundle, 'rootfs/etc/hosts'), '127.0.0.1 localhost\n');
  const spec = {
    ociVersion: '1.0.2',
    process: {
      user: { uid: 10_001, gid: 10_001 },
      args,
      env,
      cwd: '/',
      noNewPrivileges: true,
      capabilities: {},
    },
    root: { path: 'rootfs', readonly: true },
    mounts: [{ destination: '/proc', type: 'proc', source: 'proc' }, tmpfs('/dev'), tmpfs('/tmp')],
    linux: { namespaces },
  };
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(spec));
  const id = `sandhaven-image-${process.pid}`;
  const argv = ['--root', join(bundle, 'runc'), 'run', '--bundle', bundle, id];
  return execFileSync(runc, argv, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
