/** The golden exchanges of contexts: the call that makes each, and what the call gives. */
import type { AgentLink, Display, LivePiece } from '../../../src/control/ports/index.ts';
import { SANDBOX } from './fake-agent.ts';

const run = { contextId: 'main', timeoutMs: 60_000 };
const result = {
  ...{
    stdout: '1\n',
    stderr: '',
    output: '1\n',
    displays: [{ type: 'result', data: { 'text/plain': '2' } }],
  },
  ...{
    leftOut: 0,
    error: null,
    exitCode: null,
    end: null,
    run: 2,
    timedOut: false,
    truncated: false,
    durationMs: 5,
  },
};
const shown = { type: 'display', data: { 'text/html': '<b>', 'text/plain': 'b' }, chart: { type: 'line' } };

async function watched(agent: AgentLink) {
  const seen: unknown[] = [];
  const output = {
    whole: true,
    show: ({ stream, bytes }: LivePiece): undefined => void seen.push([stream, bytes.toString()]),
    display: (display: Display) => void seen.push(display),
  };
  const live = { output, generation: 7 };
  const { displays, error } = await agent.runInContext(SANDBOX, { ...run, code: 'x', live });
  return [...seen, displays, error];
}

export const contextCalls = {
  'context-create': {
    call: (agent: AgentLink) =>
      agent.createContext(SANDBOX, {
        ...{ user: 'ann', contextId: 'main', language: 'python', cwd: 'src', env: { A: 'b' } },
        ...{ memoryMb: 512, replace: true },
      }),
    gives: { createdAtMs: 1_700_000_000_123 },
  },
  'context-list': {
    call: (agent: AgentLink) => agent.listContexts(SANDBOX),
    gives: [
      {
        ...{ contextId: 'main', language: 'python', user: 'ann', cwd: 'src', memoryMb: 512 },
        ...{ createdAtMs: 1_700_000_000_123, runs: 3, busy: true, end: null },
      },
      {
        ...{ contextId: 'b', language: 'bash', user: null, cwd: '.', memoryMb: null },
        ...{ createdAtMs: 1_700_000_000_124, runs: 0, busy: false, end: 'SIGKILL ended it.' },
      },
    ],
  },
  'context-run': {
    call: (agent: AgentLink) => agent.runInContext(SANDBOX, { ...run, code: 'print(1)\n2' }),
    gives: result,
  },
  'context-run-live': {
    greets: 9 as const,
    call: watched,
    gives: [['stdout', 'a\n'], shown, ['stderr', 'c\n'], [shown], { name: 'E', value: 'v', traceback: 't' }],
  },
  'context-ended': {
    call: (agent: AgentLink) =>
      agent.runInContext(SANDBOX, { contextId: 'main', timeoutMs: 1_000, code: 'x' }),
    fails: { code: 'failed_precondition', fields: { parameter: 'context' } },
  },
  'context-interrupt': {
    call: (agent: AgentLink) => agent.interruptContext(SANDBOX, 'main'),
    gives: true,
  },
  'context-delete': {
    call: (agent: AgentLink) => agent.deleteContext(SANDBOX, 'nope'),
    fails: { code: 'not_found', fields: { resource: 'context' } },
  },
};
