/** Runs the suite of templates of E2B's client for Node as it is. */
export default {
  test: {
    include: ['tests/template/**/*.test.ts'],
    setupFiles: 'tests/globalFetchFallback.setup.ts',
    testTimeout: 180_000,
    deps: { interopDefault: true },
    maxWorkers: 2,
  },
};
