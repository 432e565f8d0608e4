/** A Debian without systemd, in a folder: packages are installed into it as into a container. */
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { debianMirror, sourcesOf } from '../../setup/debian/mirror.ts';

const execute = promisify(execFile);

export interface Answer {
  status: number;
  output: string;
}

export interface DebianRoot extends AsyncDisposable {
  path: string;
  /** Runs a program in the root, with process ids and mounts of its own. */
  run(...argv: string[]): Promise<Answer>;
  /** Copies packages to the root's /tmp, and installs them. */
  install(files: string[]): Promise<Answer>;
  /** All paths but those that dpkg and other programs keep for themselves. */
  files(): Promise<string[]>;
}

/** Of dpkg, of apt, of man-db, and the backups that adduser makes of the tables of accounts. */
const OTHERS =
  /^(?:var\/lib\/dpkg\/|var\/lib\/apt\/|var\/log\/|var\/cache\/|etc\/(?:group|gshadow|passwd|shadow)-$|tmp\/|proc\/|root\/)/;

/** @param packages Installed beside the essential ones. */
export async function makeDebianRoot(suite: string, packages: string[]): Promise<DebianRoot> {
  const folder = await mkdtemp(join(tmpdir(), 'sandhaven-root-'));
  const path = join(folder, 'root');
  const mirror = await debianMirror();
  await execute('unshare', [
    ...['--mount', '--propagation', 'private', 'mmdebstrap', '--quiet', '--variant=essential'],
    ...['--format=directory', `--include=${packages.join(',')}`, suite, path],
    ...(mirror ? sourcesOf(mirror, suite) : []),
  ]);
  await chmod(folder, 0o755);
  const run = async (...argv: string[]): Promise<Answer> => {
    const inside = ['--mount', '--pid', '--fork', `--mount-proc=${join(path, 'proc')}`, 'chroot', path];
    const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', LC_ALL: 'C.UTF-8' };
    try {
      const { stdout, stderr } = await execute('unshare', [...inside, ...argv], { env });
      return { status: 0, output: stdout + stderr };
    } catch (error) {
      const { code, stdout = '', stderr = '' } = error as { code?: number; stdout?: string; stderr?: string };
      return { status: Number(code), output: stdout + stderr };
    }
  };
  return {
    path,
    run,

    async install(files) {
      for (const file of files) await copyFile(file, join(path, 'tmp', basename(file)));
      return run('dpkg', '--install', ...files.map((file) => `/tmp/${basename(file)}`));
    },

    async files() {
      const names = await readdir(path, { recursive: true });
      return names.filter((name) => !OTHERS.test(`${name}/`) && !OTHERS.test(name)).sort();
    },

    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true });
    },
  };
}
