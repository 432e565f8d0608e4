/**
 * Somebody's computer with plain Debian: its resolver knows files and DNS, without nss-myhostname and without a name server that
 * would know names below localhost. Nothing else resolves either, and npm's registry is an address where nobody listens, so
 * whatever is installed comes from an address that was given.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { type Ran, run } from '../support/sdk-package.ts';

export interface PlainMachine {
  /** Empty, as is the home. */
  folder: string;
  /** The whole environment of what runs there. */
  env: Record<string, string>;
  /** Returns the words that run a command there. */
  command(argv: string[]): [string, ...string[]];
  /** Runs lines of a shell in the folder. */
  shell(text: string, env?: Record<string, string>): Promise<Ran>;
  remove(): Promise<void>;
}

const NOBODY = '127.0.0.254';
const ENTER =
  'mount --bind "$1/nsswitch" /etc/nsswitch.conf && mount --bind "$1/resolv" /etc/resolv.conf && shift && exec "$@"';

export async function plainMachine(): Promise<PlainMachine> {
  const base = await mkdtemp(join(tmpdir(), 'sandhaven-plain-'));
  const [home, folder] = [join(base, 'home'), join(base, 'folder')];
  await mkdir(home);
  await mkdir(folder);
  await writeFile(join(base, 'nsswitch'), 'passwd: files\ngroup: files\nhosts: files dns\n');
  await writeFile(join(base, 'resolv'), `nameserver ${NOBODY}\noptions timeout:1 attempts:1\n`);
  const env = {
    HOME: home,
    PATH: [join(home, 'bin'), dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
    npm_config_registry: `http://${NOBODY}:9/`,
    npm_config_update_notifier: 'false',
    npm_config_prefix: home,
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
  };
  const command = (argv: string[]): [string, ...string[]] => [
    ...(['unshare', '--mount', '--propagation', 'private', '--'] as const),
    ...['sh', '-c', ENTER, 'sh', base, ...argv],
  ];
  return {
    ...{ folder, env, command },
    shell(text, more = {}) {
      const [file, ...args] = command(['env', '--ignore-environment', ...listed({ ...env, ...more }), 'sh']);
      return run(file, [...args, '-euc', text], folder);
    },
    remove: () => rm(base, { recursive: true, force: true }),
  };
}

function listed(env: Record<string, string>): string[] {
  return Object.entries(env).map(([name, value]) => `${name}=${value}`);
}
