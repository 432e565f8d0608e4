/** Contexts of a sandbox in memory: code is `show TEXT`, `print TEXT`, `raise TEXT`, or prints nothing. */
import type { ContextResult, ContextSummary } from '../../../src/control/ports/index.ts';
import type { ContextService } from '../../../src/control/work/contexts.ts';
import { notFound } from '../../../src/model/errors.ts';

interface FakeContexts {
  /** What the methods were called with. */
  calls: unknown[][];
}

const summary: ContextSummary = {
  ...{ contextId: 'python', language: 'python', user: null, cwd: '.', memoryMb: null },
  ...{ createdAtMs: 1_700_000_000_123, runs: 3, busy: true, end: null },
};

/** There is no context `nope`. */
export function fakeContexts(): Pick<ContextService, keyof ContextService> & FakeContexts {
  const calls: unknown[][] = [];
  const find = (id: string) => {
    if (id === 'nope') throw notFound('context', "There is no context 'nope'.");
  };
  return {
    calls,
    create: async (_caller, _reference, { contextId = 'context_1', language = 'python', ...more }) => {
      calls.push(['create', more]);
      return { ...summary, contextId, language, runs: 0, busy: false };
    },
    list: async () => [summary, { ...summary, contextId: 'b', busy: false, end: 'SIGKILL ended it.' }],
    async run(_caller, _reference, { code, live, contextId = 'python', ...request }) {
      calls.push(['run', request]);
      find(contextId);
      const [, verb, text = ''] = /^(show|print|raise) (.*)$/s.exec(code) ?? [];
      const output = verb === 'print' ? `${text}\n` : '';
      const displays: ContextResult['displays'] =
        verb === 'show'
          ? [{ type: 'result', data: { 'text/plain': text, 'image/png': 'iVBORw0KGgo=' } }]
          : [];
      if (output !== '') live?.show({ stream: 'stdout', bytes: Buffer.from(output), leftOutBytes: 0 });
      for (const shown of displays) live?.display?.(shown);
      return {
        ...{ contextId, run: 1, output, stdout: output, stderr: '', displays, leftOut: 0 },
        error:
          verb === 'raise' ? { name: 'ValueError', value: text, traceback: `ValueError: ${text}\n` } : null,
        ...{ exitCode: null, end: null, timedOut: false, truncated: false, durationMs: 5 },
      };
    },
    async interrupt(_caller, _reference, id) {
      find(id);
      calls.push(['interrupt', id]);
      return true;
    },
    async restart(_caller, _reference, id) {
      find(id);
      calls.push(['restart', id]);
      return { ...summary, contextId: id, runs: 0, busy: false };
    },
    async delete(_caller, _reference, id) {
      find(id);
      calls.push(['delete', id]);
    },
  };
}
