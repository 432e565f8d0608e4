/** Runs the suite of E2B's code interpreter for Node as it is, without runs in other runtimes. */
export default {
  test: {
    include: ['tests/**/*.test.ts'],
    exclude: ['tests/runtimes/**'],
    testTimeout: 30_000,
    deps: { interopDefault: true },
    maxWorkers: 2,
  },
};
