/**
 * The parts of `make test-deep`: what repeats, soaks and widens the rules that `make test` shows once. A file of tests belongs to
 * `make test` or to one part. Files that a run names as `wider` are in both, and do more here.
 */
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { onBothEngines } from '../support/cluster-engine/lists.ts';

export interface Part {
  name: string;
  shows: string;
  /** A change of a file that one of these globs names asks for the first run, and for each other that names it by itself. */
  sources: string[];
  /** Targets of make that prepare it. */
  needs: string[];
  project: Project;
  /** The most telling first: CI takes it for a change, and the next one when it is the part's turn. */
  runs: Run[];
}

/** Of vitest; `none` is a program. */
export type Project =
  | 'deep'
  | 'chromium'
  | 'firefox'
  | 'cluster'
  | 'cluster-alone'
  | 'machines'
  | 'packages'
  | 'programs'
  | 'none';

export interface Run {
  name: string;
  /** On two processors, its preparations in the cache. */
  minutes: number;
  sources?: string[];
  /** Globs below the root. */
  tests?: string[];
  /** Files that `make test` has too. */
  wider?: string[];
  /** Leaves the tests with this in their name. */
  match?: string;
  env?: Record<string, string>;
  /** In place of the part's. */
  project?: Project;
  /** In place of the part's; a variable of make may be among them. */
  needs?: string[];
  /** Arguments of Node, in place of tests. */
  program?: string[];
}

const root = join(import.meta.dirname, '../..');

const engine = [
  'src/runtime/{oci,programs,images}/**',
  'native/{filter,generate,launcher,unpack,cargo}/**',
  'native/*',
];
const lifecycle = ['src/{control,store,backup,concurrency,dockerfile}/**', 'src/runtime/archives/**'];
const surfaces = ['src/{surfaces,gateways,catalog,administration,fairness,outbound,tls}/**'];
const cluster = [
  'src/runtime/kubernetes/**',
  'deploy/helm/**',
  'setup/{cluster,images}/**',
  'test/cluster/**',
];
const ofCluster = ['build', 'image', 'cluster-programs', 'helm', 'image-libraries', 's3-server'];
const ofMachines = ['build', 'image', 'docker-image', 'npm-registry', 'python-tools'];
const standing = ['build', 'image'];

export const parts: readonly Part[] = [
  {
    name: 'page',
    shows: 'the page in a second browser; each screen in three sizes and two themes, in both',
    sources: ['web/**', 'src/surfaces/http/**', 'test/walk/**'],
    needs: standing,
    project: 'firefox',
    runs: [
      { name: 'firefox', minutes: 2, wider: ['test/walk/!(documents|screens).test.ts'] },
      {
        name: 'screens',
        minutes: 2,
        tests: ['test/walk/screens.test.ts'],
        wider: ['test/{system/following/terminal-page,web/terminal/hostile}.test.ts'],
        project: 'chromium',
      },
      { name: 'screens-in-firefox', minutes: 3, tests: ['test/walk/screens.test.ts'] },
    ],
  },
  {
    name: 'attacks',
    shows: 'a user beside every attack that is known; the worst that one sandbox does in ten minutes',
    sources: [...surfaces, ...engine, 'src/{control,model}/**', 'native/egress/**', 'test/hostile/**'],
    needs: standing,
    project: 'deep',
    runs: [
      {
        name: 'hostile',
        minutes: 9,
        wider: ['test/hostile/{hostile,largest-answers}.test.ts', 'test/isolation/kernel-memory.test.ts'],
      },
      { name: 'worst-case', minutes: 12, tests: ['test/hostile/worst-case.test.ts'] },
    ],
  },
  {
    name: 'kills',
    shows: 'a service that is killed hundreds of times, and 1,500 sandboxes of one',
    sources: [...lifecycle, ...engine, 'src/app/**', 'src/agent-link/**', 'native/agent/**', 'test/chaos/**'],
    needs: standing,
    project: 'deep',
    runs: [
      {
        name: 'chaos',
        minutes: 12,
        wider: [
          'test/chaos/{kill,every-operation,power-cut}.test.ts',
          'test/backup/kills.test.ts',
          'test/images/collect.test.ts',
          'test/network/recovery.test.ts',
          'test/runtime/{crash,direct/killed-start}.test.ts',
          'test/system/sleep.test.ts',
        ],
      },
      {
        name: 'forks',
        minutes: 4,
        sources: [
          'src/control/{lifecycle/{capture,forks}.ts,images/**}',
          'src/runtime/oci/{disk,storage}/**',
        ],
        tests: ['test/chaos/forks.test.ts'],
      },
      {
        name: 'archives',
        minutes: 2,
        sources: ['src/runtime/archives/**', 'src/backup/**'],
        tests: ['test/archives/{encrypted-service,s3-place}.test.ts'],
        needs: [...standing, 's3-server'],
      },
      { name: 'many', minutes: 4, wider: ['test/chaos/many-sandboxes.test.ts'] },
    ],
  },
  {
    name: 'network',
    shows: 'policies that change and are replaced thousands of times; each client with and without a secret',
    sources: ['src/runtime/oci/network/**', 'native/egress/**', 'test/network/**'],
    needs: [...standing, 'model-clients'],
    project: 'deep',
    runs: [
      {
        name: 'policies',
        minutes: 3,
        wider: [
          'test/network/{firewall,clients/clients,secrets/gate,ways/killed}.test.ts',
          'test/network/policies/{egress,recovery,replacement}.test.ts',
        ],
      },
    ],
  },
  {
    name: 'mcp',
    shows: 'MCP as others speak it: the conformance suite, the Inspector, the older client library',
    sources: ['src/surfaces/mcp/**', 'test/surfaces/mcp/**', 'test/surfaces/mcp-tools*'],
    needs: standing,
    project: 'deep',
    runs: [{ name: 'conformance', minutes: 1, tests: ['test/surfaces/mcp/mcp-conformance.test.ts'] }],
  },
  {
    name: 'compat',
    shows: 'the public suites of other products’ clients, and what a framework runs through one of them',
    sources: [
      'src/surfaces/daytona/**',
      'src/surfaces/e2b/**',
      'src/surfaces/multipart.ts',
      'test/compat/**',
    ],
    needs: [...standing, 'compat-clients'],
    project: 'deep',
    runs: [
      {
        name: 'suites',
        minutes: 10,
        tests: ['test/compat/suites/suites.test.ts'],
        needs: [...standing, 'compat-clients', 'compat-frameworks'],
      },
      {
        name: 'frameworks',
        minutes: 4,
        tests: ['test/compat/frameworks/frameworks.test.ts'],
        needs: [...standing, 'compat-frameworks'],
      },
      {
        name: 'langchain',
        minutes: 1,
        tests: ['test/compat/langchain/langchain.test.ts'],
        needs: [...standing, 'compat-frameworks'],
      },
    ],
  },
  {
    name: 'output',
    shows:
      'a gigabyte through `sandhaven exec`, ten times; large bodies through every way in; every tool by the command line',
    sources: [
      'src/agent-link/**',
      'src/gateways/**',
      'src/model/output-text.ts',
      'src/surfaces/{http,cli}/**',
      'native/agent/src/{detached,exec,process}/**',
      'sdk/src/**',
    ],
    needs: standing,
    project: 'deep',
    runs: [
      {
        name: 'ways',
        minutes: 3,
        wider: [
          'test/gateways/{preview,ssh/programs}.test.ts',
          'test/surfaces/{cli/forward,http/system-http}.test.ts',
          'test/system/following/output.test.ts',
          'test/system/every-transport.test.ts',
          'test/system/processes.test.ts',
        ],
      },
      { name: 'gigabytes', minutes: 4, wider: ['test/system/following/whole-output.test.ts'] },
    ],
  },
  {
    name: 'runc',
    shows: 'the engine over runc, in place of its own launcher',
    sources: engine,
    needs: standing,
    project: 'deep',
    runs: [
      {
        name: 'isolation',
        minutes: 10,
        wider: ['test/isolation/{escape,filters,limits-inside,system-calls,user-limits,agent}.test.ts'],
        env: { SANDHAVEN_TEST_RUNTIME: 'runc' },
      },
      {
        name: 'lifecycle',
        minutes: 6,
        wider: ['test/system/{lifecycle,files,sessions}.test.ts', 'test/chaos/every-operation.test.ts'],
        env: { SANDHAVEN_TEST_RUNTIME: 'runc' },
      },
    ],
  },
  {
    name: 'cluster',
    shows:
      'the engine, the agent and the chart on a Kubernetes of two nodes; all that an agent does, over TLS',
    sources: cluster,
    needs: ofCluster,
    project: 'cluster-alone',
    runs: [
      {
        name: 'engine',
        minutes: 9,
        tests: ['test/cluster/kubernetes/{conformance,replicas,root}.test.ts', 'test/cluster/helm/*.test.ts'],
      },
      {
        name: 'images',
        minutes: 1,
        sources: ['setup/images/**', 'deploy/standalone/**', 'package.json'],
        tests: ['test/oci-images/service.test.ts'],
        needs: [...standing, 'image-libraries'],
        project: 'deep',
      },
      {
        name: 'agents',
        minutes: 2,
        sources: ['src/agent-link/**', 'native/agent/**', 'native/*', 'test/agent-link/**'],
        tests: ['test/agent-link/tls/conformance-*.test.ts'],
        wider: ['test/agent-link/files/search.test.ts'],
        needs: standing,
        project: 'deep',
      },
      ...fileByFile(
        'test/cluster/{,chaos,companions,kubernetes,names,parts,storage}/*.test.ts',
        /kubernetes\/(conformance|replicas|root)/,
        15,
      ),
    ],
  },
  {
    name: 'replicas',
    shows: 'the system as two replicas on Kubernetes, with PostgreSQL and S3',
    sources: [...cluster, 'src/control/replicas/**', 'src/store/postgres/**', 'src/runtime/archives/**'],
    needs: ofCluster,
    project: 'cluster',
    runs: [
      {
        name: 'gateways',
        minutes: 6,
        tests: ['test/cluster/system/**/*.test.ts'],
        wider: ['test/system/every-transport.test.ts'],
      },
      {
        name: 'postgres',
        minutes: 2,
        sources: ['src/store/**', 'src/control/ports/**'],
        tests: [
          'test/store/postgres/{copy,failures,kept-connection,outcome,postgres,replicas,rights,server,service,shares}.test.ts',
        ],
        project: 'deep',
        needs: standing,
      },
      ...inThirds(onBothEngines.filter((file) => file !== 'test/system/every-transport.test.ts')),
    ],
  },
  {
    name: 'machines',
    shows:
      'the packages on emulated Debian machines with systemd and cgroup v2: used, rebooted, without power',
    sources: [
      'deploy/{debian,standalone}/**',
      'setup/debian/**',
      'src/app/**',
      'src/runtime/oci/**',
      'test/machines/**',
    ],
    needs: ofMachines,
    project: 'machines',
    runs: [
      {
        name: 'short',
        minutes: 9,
        tests: ['test/machines/short.test.ts'],
        needs: [...ofMachines, 'machines', 'SUITES=trixie'],
      },
      ...fileByFile('test/machines/*.test.ts', /short|arm64/, 30).map((run) => ({
        ...run,
        needs: [...ofMachines, 'machines'],
      })),
      {
        name: 'arm64',
        minutes: 60,
        tests: ['test/machines/arm64.test.ts'],
        needs: [...standing, 'machines-arm64', 'dist-arm64'],
      },
    ],
  },
  {
    name: 'packages',
    shows:
      'the Debian packages, the image for Docker, the npm packages and the wheel, each built and installed',
    sources: [
      'deploy/**',
      'setup/**',
      'packages/**',
      'sdk/**',
      'sdk-python/**',
      'src/tracing/**',
      'package*.json',
    ],
    needs: [...ofMachines, 'otel-collector', 'grafana-schema', 'package-tools'],
    project: 'packages',
    runs: [
      {
        name: 'all',
        minutes: 20,
        tests: [
          'test/packages/*.test.ts',
          'test/docker/*.test.ts',
          'test/npm-packages/registry.test.ts',
          'test/release/same-bytes.test.ts',
          'test/sdk-python/package.test.ts',
          'test/tracing/real-collector.test.ts',
        ],
      },
    ],
  },
  {
    name: 'programs',
    shows: 'the hundred programs that people install most, in the base image and three of Debian’s',
    sources: ['images/base/**', 'native/filter/**', 'src/runtime/oci/machine/**', 'test/programs/**'],
    needs: standing,
    project: 'programs',
    runs: [
      {
        name: 'typescript',
        minutes: 1,
        sources: ['images/base/typescript/**'],
        wider: ['test/agent-link/code-typescript.test.ts'],
        project: 'deep',
      },
      {
        name: 'users',
        minutes: 5,
        sources: ['native/agent/src/{accounts,users}/**', 'native/agent/src/init/{account,identity}.rs'],
        tests: ['test/programs/debian/users.test.ts'],
      },
      ...['base', 'bookworm', 'trixie', 'sid'].map((image) => ({
        name: image,
        minutes: 20,
        tests: ['test/programs/debian/list.test.ts'],
        match: image === 'base' ? 'in the base image' : `in an image of ${image}`,
      })),
    ],
  },
  {
    name: 'mutation',
    shows: 'tests notice changes of the guard, the model, the control layer and the catalogue',
    sources: ['test/mutation/**'],
    needs: ['mutation-tools'],
    project: 'none',
    runs: [
      ...[
        ['control', 3] as const,
        ['guard', 8] as const,
        ['model', 6] as const,
        ['catalog', 13] as const,
      ].map(([name, minutes]) => ({ name, minutes, program: ['test/mutation/mutate.ts', name] })),
    ],
  },
  {
    name: 'simulation',
    shows: 'ten million steps of the core in virtual time, with one replica and with three',
    sources: ['src/{control,concurrency}/**', 'src/model/lifecycle*', 'test/simulation/**'],
    needs: [],
    project: 'none',
    runs: [1, 3].map((replicas) => ({
      name: `replicas-${replicas}`,
      minutes: 10,
      program: ['test/simulation/simulate.ts', '--steps', '10000000', '--replicas', `${replicas}`],
    })),
  },
];

function fileByFile(glob: string, except: RegExp, minutes: number): Run[] {
  return globSync(glob, { cwd: root })
    .toSorted()
    .filter((file) => !except.test(file))
    .map((file) => ({ name: basename(file, '.test.ts'), minutes, tests: [file] }));
}

/** Files that `make test` has not: globs. */
export const deepFiles = parts.flatMap(({ runs }) => runs.flatMap(({ tests = [] }) => tests));

/** What SANDHAVEN_TEST_PART and SANDHAVEN_TEST_RUN name: `run.ts` sets them. */
export function chosenPart(env = process.env): { part: Part; run: Run } | null {
  const part = parts.find(({ name }) => name === env['SANDHAVEN_TEST_PART']);
  const run = part?.runs.find(({ name }) => name === env['SANDHAVEN_TEST_RUN']);
  return part && run ? { part, run } : null;
}

/** True in a run of the part: a test in `make test` does less. */
export function inPart(name: string): boolean {
  return process.env['SANDHAVEN_TEST_PART'] === name;
}

function inThirds(files: string[]): Run[] {
  const size = Math.ceil(files.length / 3);
  return [0, 1, 2].map((at) => ({
    name: `system-${at + 1}`,
    minutes: 12,
    wider: files.slice(at * size, (at + 1) * size),
  }));
}
