/** Runs a suite of E2B's clients for Node as it is: their own settings, without runs in browsers and other runtimes. */
export default {
  test: {
    include: ['tests/**/*.test.ts'],
    // Templates, and what needs other runtimes, are runs of their own there.
    exclude: ['tests/{runtimes,template,bundle}/**', 'tests/connectionConfig.test.ts'],
    setupFiles: 'tests/globalFetchFallback.setup.ts',
    testTimeout: 30_000,
    deps: { interopDefault: true },
    maxWorkers: 2,
  },
};
