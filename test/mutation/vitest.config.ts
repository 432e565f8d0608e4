import { defineConfig } from 'vitest/config';
import { currentArea } from './areas.ts';

const { tests } = currentArea();

/** The tests of one area, as Stryker runs them against its mutants. */
export default defineConfig({
  test: {
    include: tests.filter((pattern) => !pattern.startsWith('!')),
    exclude: tests.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1)),
    setupFiles: ['test/mutation/set-up.ts'],
    testTimeout: 30_000,
  },
});
