/** A real registry of npm packages on this machine, and npm's programs as somebody has them who never used it. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { packAll } from '../../setup/release/dist-npm.ts';
import { run } from '../support/sdk-package.ts';

const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
const installed = join(cache, 'sandhaven', 'verdaccio');

export interface Registry {
  url: string;
  stop(): Promise<void>;
}

export async function startRegistry(): Promise<Registry> {
  if (!existsSync(join(installed, 'installed'))) {
    throw new Error('Verdaccio is not installed: run `make npm-registry`.');
  }
  const storage = await mkdtemp(join(tmpdir(), 'sandhaven-registry-'));
  const script = join(import.meta.dirname, 'verdaccio', 'serve.ts');
  const child = spawn(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    script,
    installed,
    storage,
  ]);
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const port = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the registry ended:\n${output}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      output += `${line}\n`;
      const [, found] = /^port (\d+)$/.exec(line) ?? [];
      if (found) resolve(found);
    });
  });
  return {
    url: `http://127.0.0.1:${port}/`,
    async stop() {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await exited;
      await rm(storage, { recursive: true });
    },
  };
}

/** Publishes the packages of this checkout, packed anew. */
export async function publishPackages(registry: Registry): Promise<void> {
  const dist = await mkdtemp(join(tmpdir(), 'sandhaven-dist-'));
  const publisher = await newcomer(registry, process.execPath);
  try {
    for (const name of (await packAll(dist)).filter((file) => file.endsWith('.tgz'))) {
      const publish = ['publish', join(dist, name), '--tag', 'latest'];
      const { status, stderr } = await run('npm', publish, publisher.folder, publisher.env);
      if (status !== 0) throw new Error(`npm publish ${name}: ${stderr}`);
    }
  } finally {
    await publisher.remove();
    await rm(dist, { recursive: true, force: true });
  }
}

export interface Newcomer {
  /** Empty, as is the home. */
  folder: string;
  /** The whole environment of what they start. */
  env: Record<string, string>;
  remove(): Promise<void>;
}

/** @param node The Node that npm's programs run on. */
export async function newcomer(registry: Registry, node: string): Promise<Newcomer> {
  const base = await mkdtemp(join(tmpdir(), 'sandhaven-newcomer-'));
  const [home, folder] = [join(base, 'home'), join(base, 'folder')];
  await mkdir(home);
  await mkdir(folder);
  // npm publishes only with a token, and the registry looks at none.
  const token = `${registry.url.replace('http:', '')}:_authToken=none`;
  await writeFile(join(home, '.npmrc'), `registry=${registry.url}\n${token}\nupdate-notifier=false\n`);
  const PATH = `${dirname(node)}${delimiter}${process.env['PATH'] ?? ''}`;
  return {
    folder,
    env: { HOME: home, PATH },
    remove: () => rm(base, { recursive: true, force: true }),
  };
}
