/** The golden exchanges on terminals: the call that makes each, and what the call gives. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { AgentLink, TerminalRequest, TerminalView } from '../../../src/control/ports/index.ts';
import { SANDBOX } from './fake-agent.ts';

const create = { argv: ['bash', '-l'], cwd: '.', env: { TERM: 'xterm-256color' } };
const LOOK = { terminalId: 'main', size: null, create: null };

export const terminalCalls = {
  'terminal-open': {
    call: async (agent: AgentLink) => {
      const request = { terminalId: 'main', size: { columns: 80, rows: 24 }, create };
      return seen(agent, request, (view) => {
        view.resize({ columns: 132, rows: 43 });
        view.input.write('ls\r');
      });
    },
    gives: {
      ...{ created: true, createdAtMs: 1_700_000_000_123, size: { columns: 80, rows: 24 } },
      scrollbackBytes: 0,
      events: ['$ ', { columns: 132, rows: 43 }, 'ls\r\n'],
    },
  },
  'terminal-attach': {
    call: (agent: AgentLink) => seen(agent, LOOK),
    gives: {
      ...{ created: false, createdAtMs: 1_700_000_000_123, size: { columns: 132, rows: 43 } },
      scrollbackBytes: 7,
      events: ['before ', 4_096, 'after'],
      end: { exitCode: 137, signal: 'SIGKILL' },
    },
  },
  'terminal-missing': {
    call: (agent: AgentLink) => agent.openTerminal(SANDBOX, { ...LOOK, terminalId: 'other' }),
    fails: { code: 'not_found', fields: { resource: 'terminal', parameter: 'terminal' } },
  },
  'terminal-list': {
    call: (agent: AgentLink) => agent.listTerminals(SANDBOX),
    gives: {
      terminals: [
        {
          ...{ terminalId: 'main', createdAtMs: 1_700_000_000_123, size: { columns: 80, rows: 24 } },
          ...{ viewers: 2, program: 'vim', busy: true },
        },
        {
          ...{ terminalId: 'build', createdAtMs: 1_700_000_000_456, size: { columns: 132, rows: 43 } },
          ...{ viewers: 0, program: 'bash', busy: false },
        },
      ],
      busy: true,
      idleMs: 250,
    },
  },
  'terminal-close': { call: (agent: AgentLink) => agent.endTerminal(SANDBOX, 'build'), gives: undefined },
};

async function seen(agent: AgentLink, request: TerminalRequest, act?: (view: TerminalView) => void) {
  const view = await agent.openTerminal(SANDBOX, request);
  const events: unknown[] = [];
  const add = (event: unknown) => events.push(event) > 0;
  act?.(view);
  view.show({ data: (bytes) => add(bytes.toString()), skipped: add, resized: add });
  const { created, createdAtMs, size, scrollbackBytes } = view;
  const about = { created, createdAtMs, size, scrollbackBytes };
  if (!act) return { ...about, end: await view.ended, events };
  await expect.poll(() => events.length).toBe(3);
  // What is still on its way would be lost.
  await sleep(50);
  view.detach();
  return { ...about, events };
}
