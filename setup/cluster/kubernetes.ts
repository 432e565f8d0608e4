/**
 * Compiles Kubernetes from the Go module proxy: k8s.io/kubernetes with its staging modules, which are published beside
 * it as v0.<minor>.<patch>. Go verifies what it downloads by the checksum database.
 *
 * Invariant: the folder named by the version is complete, since it is renamed into place last. `.build` keeps Go's
 * caches, so that a killed build goes on where it was; it and Debian's compiler are removed after one that succeeded.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from '../command.ts';
import { findGo } from '../go/go.ts';
import { clusterStore, KUBERNETES, kubernetesFolder } from './folders.ts';

const PROGRAMS = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kube-proxy',
  'kubelet',
  'kubectl',
];
const PACKAGES_PER_LINE = 250;

interface Compiler {
  go: string;
  /** Folder of the scratch module. */
  cwd: string;
  env: Record<string, string>;
}

export async function buildKubernetes(): Promise<void> {
  if (existsSync(kubernetesFolder)) return;
  const started = performance.now();
  console.log(`cluster: building Kubernetes ${KUBERNETES}; this takes minutes`);
  const work = join(clusterStore, '.build');
  const made = join(work, 'bin');
  await mkdir(join(work, 'module'), { recursive: true });
  const compiler = await prepare(work);
  await compile(compiler, made);
  await compilePause(compiler, made);
  await command('sync', ['--file-system', made]);
  await rename(made, kubernetesFolder);
  for (const folder of [work, join(clusterStore, 'go')]) await rm(folder, { recursive: true, force: true });
  console.log(`cluster: Kubernetes built in ${Math.round((performance.now() - started) / 1000)} s`);
}

async function prepare(work: string): Promise<Compiler> {
  const cwd = join(work, 'module');
  const env = {
    CGO_ENABLED: '0',
    GOCACHE: join(work, 'cache'),
    GOMODCACHE: join(work, 'modules'),
    GOFLAGS: '-mod=mod -modcacherw -buildvcs=false',
    GOTOOLCHAIN: 'local',
    GOWORK: 'off',
  };
  const compiler = { go: await findGo(clusterStore), cwd, env };
  const { mod } = await kubernetesModule(compiler);
  await writeFile(join(cwd, 'go.mod'), scratchModule(mod));
  return compiler;
}

/** Downloads k8s.io/kubernetes. */
async function kubernetesModule({ go, cwd, env }: Compiler): Promise<{ mod: string; folder: string }> {
  const said = await command(go, ['mod', 'download', '-json', `k8s.io/kubernetes@v${KUBERNETES}`], {
    cwd,
    env,
  });
  const { GoMod, Dir } = JSON.parse(said);
  return { mod: await readFile(GoMod, 'utf8'), folder: Dir };
}

/** A go.mod that requires Kubernetes and replaces its staging folders by the published modules. */
function scratchModule(mod: string): string {
  const staging = [...mod.matchAll(/^\s*(\S+) => \.\/staging\/src\//gm)].map((match) => match[1]);
  if (staging.length === 0) throw new Error('the go.mod of Kubernetes replaces no staging module');
  const goVersion = /^go (\S+)$/m.exec(mod)?.[1];
  const published = `v${KUBERNETES.replace(/^1/, '0')}`;
  return [
    'module sandhaven.test/cluster',
    `go ${goVersion}`,
    `require k8s.io/kubernetes v${KUBERNETES}`,
    ...staging.map((name) => `replace ${name} => ${name} ${published}`),
    '',
  ].join('\n');
}

async function compile({ go, cwd, env }: Compiler, made: string): Promise<void> {
  const [major, minor] = KUBERNETES.split('.');
  const version = Object.entries({ gitVersion: `v${KUBERNETES}`, gitMajor: major, gitMinor: minor });
  const linker = [
    '-s',
    '-w',
    ...version.map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`),
  ];
  const packages = PROGRAMS.map((name) => `k8s.io/kubernetes/cmd/${name}`);
  await mkdir(made, { recursive: true });
  const last: string[] = [];
  let compiled = 0;
  await command(go, ['build', '-v', '-trimpath', `-ldflags=${linker.join(' ')}`, '-o', made, ...packages], {
    cwd,
    env,
    onLine(line) {
      last.push(line);
      if (last.length > 20) last.shift();
      if (/^go: /.test(line) || /\s/.test(line)) return;
      compiled += 1;
      if (compiled % PACKAGES_PER_LINE === 0) console.log(`cluster: ${compiled} packages compiled`);
    },
  }).catch((error: Error) => Promise.reject(new Error([error.message, ...last].join('\n'))));
}

/** The program that holds a Pod's namespaces, from the same sources. */
async function compilePause(compiler: Compiler, made: string): Promise<void> {
  const { folder } = await kubernetesModule(compiler);
  const source = join(folder, 'build/pause/linux/pause.c');
  const flags = ['-Os', '-static', '-s', `-DVERSION=${KUBERNETES}`];
  await command('gcc', [...flags, '-o', join(made, 'pause'), source]);
}
