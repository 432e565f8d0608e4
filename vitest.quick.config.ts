import { defineConfig } from 'vitest/config';
import { testFiles } from './test/quick.ts';
import { poll } from './vitest.config.ts';

/** The tests of `make quick`; test/quick.ts says which they are. `make test` runs them too, among all. */
export default defineConfig({
  test: {
    include: testFiles().quick,
    testTimeout: 30_000,
    expect: { poll },
    silent: 'passed-only',
    maxWorkers: 2,
    // Two processes for all files, since most of a file's time would be that of loading what it imports. Threads would
    // share one process, whose memory and processor time some tests look at.
    pool: 'forks',
    isolate: false,
    // Collections of garbage are a tenth of the time otherwise.
    execArgv: ['--max-semi-space-size=64'],
    // Files are loaded as Node loads them anyway, not transformed before.
    experimental: { viteModuleRunner: false },
  },
});
