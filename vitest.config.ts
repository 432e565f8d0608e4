import { defineConfig } from 'vitest/config';

/** They measure the machine, starve it, or change what all of it shares: nothing else runs meanwhile. */
const alone = [
  'test/chaos/**/*.test.ts',
  'test/hostile/**/*.test.ts',
  'test/isolation/**/*.test.ts',
  'test/network/**/*.test.ts',
  'test/runtime/**/*.test.ts',
  'test/system/bad-luck.test.ts',
  'test/system/side-by-side.test.ts',
  // Both build the SDK's package.
  'test/examples/**/*.test.ts',
  'sdk/test/**/*.test.ts',
];

/** They share one document database, which is started for them. */
export const withDocuments = ['test/documentdb/**/*.test.ts'];

/** They need a Kubernetes that takes minutes to build, and run in `make test-cluster` alone. */
const withCluster = ['test/cluster/**/*.test.ts'];
const hasCluster = process.env['SANDHAVEN_TEST_CLUSTER'] === '1';

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...alone, ...withDocuments, ...withCluster],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'documents',
          include: withDocuments,
          globalSetup: 'test/support/document-database.setup.ts',
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: hasCluster ? [...alone, ...withCluster] : alone,
          fileParallelism: false,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
