/** Logs of sessions from a stop to the next start, within their room and their time. */
import { expect, it, vi } from 'vitest';
import type {
  AgentSessions,
  KeptCommand,
  SessionCommandLogs,
  SessionStore,
} from '../../../src/control/ports/index.ts';
import { KeptSessions } from '../../../src/control/work/kept-sessions.ts';

const MiB = 1024 * 1024;
const printed = (output: string): SessionCommandLogs => ({
  ...{
    status: 'completed',
    exitCode: 0,
    output,
    stdout: output,
    stderr: '',
    truncated: false,
    nextOffset: 0,
  },
});

/** Keeps the sessions of an agent that has these logs, newest first. */
async function keptOf(
  sessions: Record<string, Record<string, SessionCommandLogs>>,
  { known = true, listSessions, sessionCommandLogs }: Partial<AgentSessions & { known: boolean }> = {},
) {
  let kept: ReadonlyMap<string, KeptCommand[]> | null = null;
  const store = {
    knows: async () => known,
    keepLogs: async (_id: string, logs: ReadonlyMap<string, KeptCommand[]>) => {
      kept = logs;
    },
  };
  const agent = {
    listSessions:
      listSessions ??
      vi.fn(async () => ({
        sessions: Object.entries(sessions).map(([sessionId, logs]) => ({
          ...{ sessionId, createdAtMs: 0 },
          recentCommands: Object.entries(logs).map(([commandId, { status, exitCode }]) => ({
            ...{ commandId, command: '', status, exitCode },
          })),
        })),
        ...{ busy: false, idleMs: null },
      })),
    sessionCommandLogs:
      sessionCommandLogs ??
      (async (_id: string, session: string, command: string) => {
        const found = sessions[session]?.[command];
        if (!found) throw new Error('no such log');
        return found;
      }),
  };
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  await new KeptSessions(store as unknown as SessionStore, agent, log).keep('sb_1');
  const ids = [...(kept ?? new Map<string, KeptCommand[]>())].map(([session, commands]) => [
    session,
    commands.map(({ commandId }) => commandId),
  ]);
  return {
    kept: kept as ReadonlyMap<string, KeptCommand[]> | null,
    ids: Object.fromEntries(ids),
    agent,
    log,
  };
}

it('[WIRE-SESSION-14] has a code of what ended, of what never ran, and none of what the stop ends', async () => {
  const { kept } = await keptOf({
    one: {
      cmd_3: { ...printed(''), status: 'queued', exitCode: null },
      cmd_2: { ...printed('begun\n'), status: 'running', exitCode: null },
      cmd_1: { ...printed('done\n'), exitCode: 3 },
    },
  });
  expect(kept?.get('one')).toMatchObject([
    { commandId: 'cmd_3', exitCode: 125, stderr: 'The session was closed before this command ran.\n' },
    { commandId: 'cmd_2', exitCode: null, output: 'begun\n' },
    { commandId: 'cmd_1', exitCode: 3, output: 'done\n' },
  ]);
});

it('keeps 4 MiB of a sandbox, of each session its newest commands', async () => {
  const half = printed('x'.repeat(MiB / 2));
  const { ids } = await keptOf({
    one: { cmd_4: half, cmd_3: half, cmd_2: half, cmd_1: half },
    two: { cmd_6: half, cmd_5: half },
  });
  expect(ids).toEqual({ one: ['cmd_4', 'cmd_3'], two: ['cmd_6', 'cmd_5'] });
});

it('asks nothing of the agent of a sandbox that never had a session', async () => {
  const { agent, kept } = await keptOf({}, { known: false });
  expect(agent.listSessions).not.toHaveBeenCalled();
  expect(kept).toBeNull();
});

it('holds a stop up for two seconds at most, and keeps what came until then', async () => {
  vi.useFakeTimers();
  try {
    const logs = { one: { cmd_2: printed('a'), cmd_1: printed('b') } };
    const silent = async (_id: string, _session: string, command: string) =>
      command === 'cmd_2' ? printed('a') : new Promise<never>(() => {});
    const keeping = keptOf(logs, { sessionCommandLogs: silent });
    await vi.advanceTimersByTimeAsync(2_000);
    expect((await keeping).ids).toEqual({ one: ['cmd_2'] });
  } finally {
    vi.useRealTimers();
  }
});

it('lets a stop go on whose agent is gone', async () => {
  const { kept } = await keptOf({}, { listSessions: () => Promise.reject(new Error('gone')) });
  expect(kept).toEqual(new Map());
});
