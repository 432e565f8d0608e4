import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { chosenPart, deepFiles, type Part, type Project, type Run } from './test/deep/parts.ts';
import { testFiles, withDocuments } from './test/quick.ts';

/**
 * They wait most of their time, for bounds of ten seconds to two minutes, and need little of a processor: `setup/checks.sh` runs
 * them beside the tests that share the machine.
 */
const waiting = [
  'test/agent-link/tls/refusals.test.ts',
  'test/compat/daytona/clients.test.ts',
  'test/compat/e2b/clients.test.ts',
  'test/egress/{fairness,life}.test.ts',
  'test/gateways/preview.test.ts',
  'test/gateways/ssh/{login,odd-clients}.test.ts',
  'test/network/limits/idle.test.ts',
  'test/runtime/disk/disk-guard.test.ts',
  'test/system/following/terminals.test.ts',
  'test/tls/listener.test.ts',
  'test/webhooks/sender.test.ts',
];

/** They measure the machine, starve it, or count what all services share: nothing else runs meanwhile. */
const alone = [
  'test/chaos/{few-files,many-sandboxes,power-cut}.test.ts',
  'test/hostile/**/*.test.ts',
  'test/isolation/{fair-disk,fair-processor,kernel-memory,user-limits}.test.ts',
  'test/network/limits/{bandwidth,day}.test.ts',
  // The kernel bounds refusals, and the next holder of a slot must not be another service's.
  'test/network/policies/addresses.test.ts',
  'test/network/slot-numbers.test.ts',
  'test/network/ways/killed.test.ts',
  // A purge of all orphans takes those of other tests, too.
  'test/runtime/orphans.test.ts',
  // A flood beside others' work would measure that work.
  'test/agent-link/tls/flood.test.ts',
  'test/system/bad-luck.test.ts',
];

/** They look after machines and links of their own on the host, and wait for them half of their time: one after another, beside others. */
const inSeries = [
  'test/network/**/*.test.ts',
  'test/runtime/**/*.test.ts',
  'test/chaos/{every-operation,kill}.test.ts',
  'test/isolation/{agent,between-sandboxes,escape,filters,limits-inside,system-calls}.test.ts',
  'test/isolation/runtimes/**/*.test.ts',
  // Both build the SDK's package.
  'test/examples/**/*.test.ts',
  'sdk/test/**/*.test.ts',
];

/** They start no program, and run by themselves: in the others, most of their time would be that of loading what they import. */
const quick = testFiles().quick;

/** They walk through the page in browsers, against one service that is started for them. */
const walks = ['test/walk/**/*.test.ts'];

/** Vitest's own second is too short for a process on a busy machine. */
const poll = { timeout: 10_000 };

/** They run two at a time, and one project begins while the last files of another go on. */
const shared = { maxWorkers: 2, sequence: { groupOrder: 0 } };

/** Against one service, with users of each file's own. */
const walk = {
  globalSetup: 'test/support/shared-service.setup.ts',
  testTimeout: 120_000,
};

const oneAfterAnother = { fileParallelism: false, maxWorkers: 1 };

/**
 * Files of a worker share what they load, which Node loads and nothing transforms: loading would take as long as testing. Processes,
 * since threads would share one, whose memory and processor time some tests look at.
 */
const loadedOnce = { pool: 'forks' as const, isolate: false, experimental: { viteModuleRunner: false } };

/** What the tests of a part need of vitest. */
const ofParts = {
  deep: oneAfterAnother,
  chromium: { ...walk, provide: { walkedBrowser: 'chromium' as const }, maxWorkers: 2 },
  firefox: { ...walk, provide: { walkedBrowser: 'firefox' as const }, maxWorkers: 2 },
  // A sandbox is a Pod: whatever waits for one takes longer than on one machine.
  cluster: {
    globalSetup: 'test/support/cluster-engine/cluster-engine.setup.ts',
    env: { SANDHAVEN_TEST_ENGINE: 'kubernetes' },
    testTimeout: 60_000,
    hookTimeout: 180_000,
    maxWorkers: 2,
  },
  'cluster-alone': oneAfterAnother,
  // Two processors carry one emulated machine.
  machines: {
    globalSetup: 'test/machines/support/machines.setup.ts',
    testTimeout: 3_600_000,
    hookTimeout: 3_600_000,
    ...oneAfterAnother,
  },
  packages: { testTimeout: 300_000, hookTimeout: 600_000, ...oneAfterAnother },
  // As many sandboxes at once, one a section of the list: one waits for a disk while others compute.
  programs: { testTimeout: 1_800_000, hookTimeout: 600_000, maxConcurrency: 3 },
} satisfies Record<Exclude<Project, 'none'>, object>;

/** Of `make test-deep`. */
const chosen = chosenPart();

const ofMakeTest: TestProjectConfiguration[] = [
  {
    extends: true,
    test: {
      name: 'quick',
      include: quick,
      maxWorkers: 2,
      ...loadedOnce,
      // Collections of garbage are a tenth of the time otherwise.
      execArgv: ['--max-semi-space-size=64'],
      setupFiles: 'test/support/real-clock.setup.ts',
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
        ...inSeries,
        ...withDocuments,
        ...walks,
        ...deepFiles,
      ],
      globalSetup: 'test/support/shared-service.setup.ts',
      ...loadedOnce,
      ...shared,
    },
  },
  {
    extends: true,
    test: {
      name: 'documents',
      include: withDocuments,
      globalSetup: 'test/support/document-database.setup.ts',
      ...loadedOnce,
      ...shared,
    },
  },
  {
    extends: true,
    test: {
      name: 'waiting',
      include: waiting,
      exclude: ['**/node_modules/**', ...quick],
      ...loadedOnce,
      ...oneAfterAnother,
      sequence: { groupOrder: 1 },
    },
  },
  {
    extends: true,
    test: {
      name: 'series',
      include: inSeries,
      exclude: ['**/node_modules/**', ...quick, ...waiting, ...alone],
      ...loadedOnce,
      ...oneAfterAnother,
      sequence: { groupOrder: 2 },
    },
  },
  {
    extends: true,
    test: {
      name: 'alone',
      include: alone,
      exclude: ['**/node_modules/**', ...quick, ...waiting, ...deepFiles],
      ...loadedOnce,
      ...oneAfterAnother,
      sequence: { groupOrder: 3 },
    },
  },
  {
    extends: true,
    test: {
      // Vitest begins with the project whose name comes first: its long files are over before the last of `together`.
      name: 'chromium',
      include: walks,
      exclude: ['**/node_modules/**', ...withDocuments, ...deepFiles],
      ...walk,
      provide: { walkedBrowser: 'chromium' as const },
      ...loadedOnce,
      ...shared,
    },
  },
];

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 120_000,
    expect: { poll },
    projects: chosen ? [projectOf(chosen)] : ofMakeTest,
  },
});

function projectOf({ part, run }: { part: Part; run: Run }): TestProjectConfiguration {
  const project = run.project ?? part.project;
  if (project === 'none') throw new Error(`${part.name} has no tests`);
  const include = [...(run.tests ?? []), ...(run.wider ?? [])];
  return { extends: true, test: { name: project, include, ...ofParts[project] } };
}
