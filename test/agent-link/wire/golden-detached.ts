/** The golden exchanges on processes that outlive their caller: the call that makes each, and what the call gives. */
import type { AgentLink } from '../../../src/control/ports/index.ts';
import { SANDBOX } from './fake-agent.ts';

const screen = { columns: 80, rows: 24 };

export const detachedCalls = {
  'process-start': {
    call: (agent: AgentLink) =>
      agent.startDetached(SANDBOX, {
        ...{ argv: ['bash', '-c', 'make serve'], cwd: '.', env: { PATH: '/bin' }, terminal: screen },
        ...{ tag: 'web', label: 'make serve', timeoutMs: 60_000 },
      }),
    gives: { pid: 1234, startedAtMs: 1_700_000_000_123 },
  },
  'process-list': {
    call: (agent: AgentLink) => agent.listDetached(SANDBOX),
    gives: {
      processes: [
        {
          ...{ pid: 1234, tag: 'web', label: 'make serve', startedAtMs: 1_700_000_000_123 },
          ...{ terminal: screen, viewers: 2, outputBytes: 300_000, end: null },
        },
        {
          ...{ pid: 1240, tag: null, label: 'sleep 60', startedAtMs: 1_700_000_000_456 },
          ...{ terminal: null, viewers: 0, outputBytes: 0 },
          end: { exitCode: 137, signal: 'SIGKILL', timedOut: true, endedAtMs: 1_700_000_001_456 },
        },
      ],
      busy: true,
      idleMs: null,
    },
  },
  'process-view': {
    call: async (agent: AgentLink) => {
      const seen: [number | string, string][] = [];
      const sink = {
        begun: (from: number) => void seen.push([from, '']),
        show({ stream, bytes }: { stream: string; bytes: Buffer }): undefined {
          const last = seen.at(-1);
          if (last?.[0] === stream) last[1] += bytes.toString();
          else seen.push([stream, bytes.toString()]);
        },
      };
      const end = await agent.viewDetached(SANDBOX, { process: 'web', from: 7 }, sink);
      return { seen, end };
    },
    gives: {
      seen: [
        [4_096, ''],
        ['stdout', 'one\ntwo\n'],
        ['stderr', 'é\n'],
        ['stdout', 'three\n'],
      ],
      end: { exitCode: 3, signal: null, timedOut: false },
    },
  },
  'process-input': {
    call: (agent: AgentLink) => agent.writeDetached(SANDBOX, '1234', Buffer.from('yes\n'), { close: true }),
    gives: undefined,
  },
  'process-signal': {
    call: (agent: AgentLink) => agent.signalDetached(SANDBOX, '1234', 'TERM'),
    fails: { code: 'failed_precondition' },
  },
  'process-resize': {
    call: (agent: AgentLink) => agent.resizeDetached(SANDBOX, 'web', { columns: 132, rows: 43 }),
    gives: undefined,
  },
  'process-end': {
    call: (agent: AgentLink) => agent.endDetached(SANDBOX, 'other'),
    fails: { code: 'not_found', fields: { resource: 'process', parameter: 'process' } },
  },
};
