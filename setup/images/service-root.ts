/**
 * The files of the service's image, in two layers: what changes rarely (Debian's libraries, Node), and the service with
 * the npm packages that it uses. There is no shell, and nothing that compiles or installs.
 */
import { chmod, chown, copyFile, cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { arch } from 'node:os';
import { dirname, join } from 'node:path';
import { command } from '../command.ts';
import { libraries } from './libraries.ts';
import { copyService } from './service-files.ts';

/** The ordinary user that the service runs as, with a group of the same number. */
export const SERVICE_UID = 10_001;

/** Of the service, in the image. */
export const HOME = '/opt/sandhaven';

const NODE = '/usr/local/bin/node';

const accounts = {
  'etc/passwd': `root:x:0:0:root:/:/sbin/nologin\nsandhaven:x:${SERVICE_UID}:${SERVICE_UID}::/var/lib/sandhaven:/sbin/nologin\n`,
  'etc/group': `root:x:0:\nsandhaven:x:${SERVICE_UID}:\n`,
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

/** A program, so that `kubectl exec` needs no shell for it. */
const launcher = `#!${NODE}\nimport '${HOME}/src/main.ts';\n`;

export async function writeSystem(home: string, root: string): Promise<void> {
  await cp(await libraries(), root, { recursive: true, verbatimSymlinks: true });
  for (const name of ['lib', 'lib64']) await symlink(`usr/${name}`, join(root, name));
  for (const [path, text] of Object.entries(accounts)) await put(root, path, text);
  await mkdir(join(root, 'usr/local/bin'), { recursive: true });
  await copyFile(join(home, `node_modules/node-linux-${arch()}/bin/node`), join(root, NODE));
  await chmod(join(root, NODE), 0o755);
  await openToAll(root);
  await mkdir(join(root, 'tmp'));
  await chmod(join(root, 'tmp'), 0o1777);
}

export async function writeService(home: string, root: string): Promise<void> {
  await copyService(home, join(root, HOME));
  await put(root, 'usr/local/bin/sandhaven', launcher, 0o755);
  const data = join(root, 'var/lib/sandhaven');
  await mkdir(data, { recursive: true });
  await openToAll(root);
  await chmod(data, 0o700);
  await chown(data, SERVICE_UID, SERVICE_UID);
}

/** Settings for the start of the service; the same as those of bin/sandhaven, which is a shell script. */
export function serviceSettings() {
  const triplet = arch() === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
  return {
    User: `${SERVICE_UID}:${SERVICE_UID}`,
    WorkingDir: '/',
    Env: [
      'PATH=/usr/local/bin',
      'HOME=/var/lib/sandhaven',
      'NODE_COMPILE_CACHE=/tmp/node-compile-cache',
      `LD_PRELOAD=/usr/lib/${triplet}/libjemalloc.so.2`,
      'MALLOC_CONF=narenas:2,dirty_decay_ms:5000,muzzy_decay_ms:0,background_thread:true',
    ],
    Entrypoint: [
      ...[NODE, '--disable-warning=ExperimentalWarning', '--max-semi-space-size=1', '--no-parallel-scavenge'],
      '--max-old-space-size=768',
      `${HOME}/src/main.ts`,
    ],
    Cmd: ['up'],
    ExposedPorts: { '7420/tcp': {}, '7421/tcp': {}, '7422/tcp': {} },
    StopSignal: 'SIGTERM',
  };
}

/** The checkout's modes depend on who made it, and the service is another user in the image. */
async function openToAll(root: string): Promise<void> {
  await command('chmod', ['--recursive', 'u=rwX,go=rX', root]);
}

async function put(root: string, path: string, text: string, mode = 0o644): Promise<void> {
  await mkdir(join(root, dirname(path)), { recursive: true });
  await writeFile(join(root, path), text);
  await chmod(join(root, path), mode);
}
