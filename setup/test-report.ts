/** Vitest's report as JSON, which says why a hook within `describe` failed as well: vitest's own leaves that out. */
import { JsonReporter, type TestModule, experimental_getRunnerTask as taskOf } from 'vitest/node';

export default class TestReport extends JsonReporter {
  override async onTestRunEnd(modules: TestModule[]): Promise<void> {
    for (const module of modules) {
      const { result } = taskOf(module);
      const ofHooks = [...module.children.allSuites()].flatMap((suite) => suite.errors());
      if (result !== undefined && !result.errors?.length) result.errors = ofHooks;
    }
    await super.onTestRunEnd(modules);
  }
}
