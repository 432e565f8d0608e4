/**
 * What a run of vitest ended with, as JSON into the file of `--outputFile.json`. Unlike vitest's own report it says why a hook within
 * `describe` failed, and holds the errors that came outside of all tests.
 */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

export interface TestRun {
  files: TestFile[];
  /** Reasons of what failed outside of all tests; the run has failed then. */
  outside: string[];
}

export interface TestFile {
  path: string;
  /** Why the file failed by itself: it could not be loaded, a hook failed, or its process ended. */
  errors: string[];
  tests: { name: string; state: 'passed' | 'failed' | 'skipped' | 'pending'; ms: number; errors: string[] }[];
}

export default class TestReport implements Reporter {
  #vitest!: Vitest;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[], outside: readonly Failure[]): void {
    const { root, outputFile } = this.#vitest.config;
    if (typeof outputFile !== 'object' || outputFile.json === undefined) return;
    const run: TestRun = {
      files: modules.map((module) => testFile(module, root)),
      outside: outside.map((error) => {
        const path = error['VITEST_TEST_PATH'];
        return typeof path === 'string' ? `during ${relative(root, path)}: ${reason(error)}` : reason(error);
      }),
    };
    writeFileSync(outputFile.json, JSON.stringify(run));
  }
}

type Failure = ReturnType<TestModule['errors']>[number];

function testFile(module: TestModule, root: string): TestFile {
  const errors = [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())];
  return {
    path: relative(root, module.moduleId),
    errors: ['queued', 'pending'].includes(module.state()) ? ['It did not end.'] : errors.map(reason),
    tests: [...module.children.allTests()].map((test) => ({
      name: test.fullName,
      state: test.result().state,
      ms: test.diagnostic()?.duration ?? 0,
      errors: (test.result().errors ?? []).map(reason),
    })),
  };
}

function reason({ stack, message }: Failure): string {
  return stack || message;
}
