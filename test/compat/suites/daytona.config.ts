/** Runs the suite for TypeScript as it is, with the installed client in place of the sources beside it. */
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { nodePackage } from '../clients/installed.ts';

/** The suite's own, by its call of `jest.setTimeout`. */
const LIMIT_MS = 120_000;

export default defineConfig({
  resolve: {
    alias: [
      {
        find: /^\.\.\/(Daytona|errors\/DaytonaError|Image|Sandbox|PtyHandle)$/,
        replacement: `${nodePackage('daytona-0.218')}/cjs/$1.js`,
      },
    ],
  },
  test: {
    include: ['sdk-typescript/src/__tests__/e2e.test.ts'],
    globals: true,
    setupFiles: [join(import.meta.dirname, 'jest-names.ts')],
    testTimeout: LIMIT_MS,
    hookTimeout: LIMIT_MS,
  },
});
