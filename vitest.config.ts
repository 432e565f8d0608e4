import { defineConfig } from 'vitest/config';
import { testFiles, withDocuments } from './test/quick.ts';
import { onBothEngines, onEachChange } from './test/support/cluster-engine/lists.ts';

/**
 * They wait most of their time, for bounds of ten seconds to two minutes, and need little of a processor: `setup/checks.sh` runs
 * them beside the tests that share the machine.
 */
const waiting = [
  'test/egress/{fairness,life}.test.ts',
  'test/gateways/preview.test.ts',
  'test/gateways/ssh/{login,odd-clients}.test.ts',
  'test/runtime/disk/disk-guard.test.ts',
  'test/surfaces/http/oauth/decision.test.ts',
  'test/system/following/terminals.test.ts',
  'test/tls/listener.test.ts',
  'test/webhooks/sender.test.ts',
];

/** They measure the machine, starve it, or count what all services share: nothing else runs meanwhile. */
const alone = [
  'test/chaos/**/*.test.ts',
  'test/hostile/**/*.test.ts',
  'test/isolation/**/*.test.ts',
  'test/network/dns-shares.test.ts',
  'test/network/limits/**/*.test.ts',
  'test/network/policies/addresses.test.ts',
  'test/network/{recovery,slots}.test.ts',
  'test/network/ways/killed.test.ts',
  'test/runtime/orphans.test.ts',
  // A flood beside others' work would measure that work.
  'test/agent-link/tls/refusals.test.ts',
  'test/system/bad-luck.test.ts',
  'test/system/side-by-side.test.ts',
  // Both build the SDK's package.
  'test/examples/**/*.test.ts',
  'sdk/test/**/*.test.ts',
];

/** Each looks after machines and links of its own on the host, and waits for them half of its time: two at once. */
const inPairs = ['test/network/**/*.test.ts', 'test/runtime/**/*.test.ts'];

/** They start no program, and run by themselves: in the others, most of their time would be that of loading what they import. */
const quick = testFiles().quick;

/** They walk through the page in browsers, against one service that is started for them. */
const walks = ['test/walk/**/*.test.ts'];

/** They need a Kubernetes that takes minutes to build. */
const withCluster = ['test/cluster/**/*.test.ts'];
/** They need replicas of a service there, as `onBothEngines` do. */
const withReplicas = ['test/cluster/system/**/*.test.ts'];
/** They need emulated machines, on which all takes minutes. */
const onMachines = ['test/machines/**/*.test.ts'];
const onMachinesInShort = ['test/machines/short.test.ts'];
/** `whole` in `make test-machines`, `short` in `make test MACHINES=1`; none by default. */
const machinesForm = process.env['SANDHAVEN_TEST_MACHINES'];
const hasMachines = machinesForm !== undefined;
/** They compress for minutes, or need what compiles for minutes, and run in `make test-packages`. */
const ofPackages = [
  'test/packages/**/*.test.ts',
  'test/docker/**/*.test.ts',
  'test/npm-packages/registry.test.ts',
  'test/sdk-python/package.test.ts',
  'test/tracing/real-collector.test.ts',
];
/** They install a hundred packages from Debian's mirror, in four images. */
const ofPrograms = ['test/programs/debian/list.test.ts'];
const hasPrograms = process.env['SANDHAVEN_TEST_PROGRAMS'] !== undefined;
const hasPackages = process.env['SANDHAVEN_TEST_PACKAGES'] !== undefined;
/** `all` in `make test-cluster`, `each-change` in `make test CLUSTER=1`; none by default. */
const chosen = process.env['SANDHAVEN_TEST_CLUSTER'];
const hasCluster = chosen === 'all' || chosen === 'each-change';
const isWhole = chosen === 'all';

/** Vitest's own second is too short for a process on a busy machine. */
const poll = { timeout: 10_000 };

const onCluster = {
  extends: true as const,
  test: {
    name: 'cluster',
    include: isWhole ? [...onBothEngines, ...withReplicas] : onEachChange.ofTheSystem,
    globalSetup: 'test/support/cluster-engine/cluster-engine.setup.ts',
    env: { SANDHAVEN_TEST_ENGINE: 'kubernetes' },
    // A sandbox is a Pod: whatever waits for one takes longer than on one machine.
    testTimeout: 60_000,
    hookTimeout: 180_000,
    maxWorkers: 2,
    sequence: { groupOrder: 4 },
  },
};

/** They run two at a time, and one project begins while the last files of another go on. */
const shared = { maxWorkers: 2, sequence: { groupOrder: 0 } };

/** Each browser has a service of its own, since the tests count what is there. */
const walk = (browser: 'chromium' | 'firefox') => ({
  extends: true as const,
  test: {
    // Vitest begins with the project whose name comes first: the long files of these two are over before the last of `together`.
    name: browser,
    include: walks,
    exclude: ['**/node_modules/**', ...withDocuments],
    globalSetup: 'test/walk/support/walk.setup.ts',
    provide: { walkedBrowser: browser },
    testTimeout: 120_000,
    ...shared,
  },
});

const packages = {
  extends: true as const,
  test: {
    name: 'packages',
    include: ofPackages,
    testTimeout: 300_000,
    hookTimeout: 600_000,
    fileParallelism: false,
    maxWorkers: 1,
    sequence: { groupOrder: 7 },
  },
};

const programs = {
  extends: true as const,
  test: {
    name: 'programs',
    include: ofPrograms,
    testTimeout: 1_800_000,
    hookTimeout: 600_000,
    // Each is in a sandbox of its own; most of their time is a download or a disk's.
    maxConcurrency: 3,
    sequence: { groupOrder: 8 },
  },
};

const machines = {
  extends: true as const,
  test: {
    name: 'machines',
    include: machinesForm === 'short' ? onMachinesInShort : onMachines,
    exclude: ['**/node_modules/**', ...(machinesForm === 'short' ? [] : onMachinesInShort)],
    globalSetup: 'test/machines/support/machines.setup.ts',
    testTimeout: 3_600_000,
    hookTimeout: 3_600_000,
    // Two processors carry one emulated machine.
    fileParallelism: false,
    maxWorkers: 1,
    sequence: { groupOrder: 6 },
  },
};

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 120_000,
    expect: { poll },
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: quick,
          maxWorkers: 2,
          // Two processes for all files. Threads would share one process, whose memory and processor time some tests look at.
          pool: 'forks',
          isolate: false,
          // Collections of garbage are a tenth of the time otherwise.
          execArgv: ['--max-semi-space-size=64'],
          // Files are loaded as Node loads them anyway, not transformed before.
          experimental: { viteModuleRunner: false },
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [
            '**/node_modules/**',
            ...quick,
            ...waiting,
            ...alone,
            ...inPairs,
            ...withDocuments,
            ...walks,
            ...withCluster,
            ...onMachines,
            ...ofPackages,
            ...ofPrograms,
          ],
          ...shared,
        },
      },
      {
        extends: true,
        test: {
          name: 'documents',
          include: withDocuments,
          globalSetup: 'test/support/document-database.setup.ts',
          ...shared,
        },
      },
      {
        extends: true,
        test: {
          name: 'waiting',
          include: waiting,
          exclude: ['**/node_modules/**', ...quick],
          fileParallelism: false,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'pairs',
          include: inPairs,
          exclude: ['**/node_modules/**', ...quick, ...waiting, ...alone],
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: [...alone, ...(isWhole ? withCluster : hasCluster ? onEachChange.ofTheCluster : [])],
          exclude: ['**/node_modules/**', ...quick, ...waiting, ...withReplicas],
          fileParallelism: false,
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
        },
      },
      walk('chromium'),
      walk('firefox'),
      ...(hasCluster ? [onCluster] : []),
      ...(hasMachines ? [machines] : []),
      ...(hasPackages ? [packages] : []),
      ...(hasPrograms ? [programs] : []),
    ],
  },
});
