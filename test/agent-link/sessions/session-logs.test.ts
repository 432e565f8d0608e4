import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScratchSandbox, startScratchSandbox } from '../scratch-sandbox.ts';
import { openSession, type TestSession } from './session-harness.ts';

const OUTPUT_BYTES = 1024 * 1024;
const ACTIVE_SESSIONS = 32;
const RECENT_COMMANDS = 20;

const MAX_LOG_BYTES = 24 << 20;
const REMEMBERED = 100;
const QUEUED = 64;

let sandbox: ScratchSandbox;
beforeAll(async () => {
  sandbox = await startScratchSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const open = () => openSession(sandbox);

describe('logs', () => {
  it('[WIRE-SESSION-10] have both streams apart and together, and grow while the command runs', async () => {
    const session = await open();
    const command = await session.begin(
      'echo out; sleep 0.1; echo err >&2; until test -e /tmp/on; do sleep 0.02; done; echo more',
    );
    await session.printed(command, 'err');
    expect(await session.logs(command)).toEqual({
      status: 'running',
      exitCode: null,
      stdout: 'out\n',
      stderr: 'err\n',
      output: 'out\nerr\n',
      truncated: false,
      nextOffset: 8,
    });
    await sandbox.sh('touch /tmp/on');
    expect(await session.ended(command)).toMatchObject({ exitCode: 0, stdout: 'out\nmore\n' });
  });

  it('of 100 MB keep the first and the last half of a stream, and nothing waits to be read', async () => {
    const session = await open();
    const command = await session.begin('echo first; yes 123456789 | head -c 100000000; echo last');
    const { output, stdout, truncated, exitCode } = await session.ended(command);
    expect({ truncated, exitCode }).toEqual({ truncated: true, exitCode: 0 });
    for (const text of [stdout, output]) {
      expect(text).toMatch(/^first\n(\d{9}\n)+\d*\n\[… \d+ bytes left out …\]\n\d*\n(\d{9}\n)+last\n$/);
      expect(Buffer.byteLength(text)).toBeLessThan(OUTPUT_BYTES + 256);
    }
  }, 60_000);

  it('of a background child stay its own command’s, after its end and after the session’s', async () => {
    const session = await open();
    const child = (mark: string) =>
      `(until test -e /tmp/${mark}; do sleep 0.02; done; echo ${mark}; touch /tmp/${mark}-said) &`;
    const first = await session.begin(child('one'));
    const second = await session.begin(`echo second; ${child('two')}`);
    await session.ended(second);
    expect(await session.logs(first)).toMatchObject({ status: 'completed', output: '' });
    await session.run('touch /tmp/one');
    await session.printed(first, 'one');
    expect(await session.run('exit 6')).toMatchObject({ exitCode: 6, output: '' });
    await sandbox.sh('touch /tmp/two');
    await session.printed(second, 'two');
    expect((await session.logs(second)).output).toBe('second\ntwo\n');
  });

  it('are complete when the end is reported', async () => {
    const session = await open();
    for (let round = 0; round < 50; round++) {
      const { output } = await session.run('echo a; echo b >&2; echo c > /dev/tty');
      expect(output.split('\n').toSorted()).toEqual(['', 'a', 'b', 'c']);
    }
  });
});

describe('a child that goes on', () => {
  it('outlives the shell, whichever way that ends, as it would outlive RunCommand', async () => {
    for (const [index, end] of ['exit', 'kill -9 $$', 'exec true'].entries()) {
      const { run } = await open();
      await run(`sleep 200${index} & trap "" HUP; nohup sleep 300${index} >/dev/null 2>&1 & ${end}`);
      expect((await sandbox.sh(`sleep 0.2; pgrep -fc '^sleep [23]00${index}'`)).stdout, end).toBe('2\n');
    }
    await sandbox.sh("pkill -f '^sleep [23]00'");
  });

  it('holds nothing up while it prints without end', async () => {
    const session = await open();
    await session.run('yes endless &');
    for (let round = 0; round < 20; round++) {
      expect(await session.run('echo fine')).toMatchObject({ output: 'fine\n' });
    }
    expect(await session.run('kill %1')).toMatchObject({ exitCode: 0 });
  });
});

describe('bounds:', () => {
  it('32 sessions are active at most', async () => {
    await using crowded = await startScratchSandbox();
    const sessions: TestSession[] = [];
    for (let index = 0; index < ACTIVE_SESSIONS; index++) sessions.push(await openSession(crowded));
    await expect(openSession(crowded)).rejects.toMatchObject({ code: 'resource_exhausted' });
    expect(await sessions[0]?.run('exit')).toMatchObject({ exitCode: 0 });
    await openSession(crowded);
    const { sessions: listed } = await crowded.agent.listSessions(crowded.id);
    expect(listed).toHaveLength(ACTIVE_SESSIONS);
  }, 60_000);

  it('64 commands wait in a session at most', async () => {
    const session = await open();
    await session.begin('sleep 60');
    for (let index = 0; index < QUEUED; index++) await session.begin('true');
    await expect(session.begin('true')).rejects.toMatchObject({ code: 'resource_exhausted' });
    await sandbox.sh('pkill -x sleep');
  });

  it('a session remembers its newest 100 commands, and lists 20 of them with the beginning of their text', async () => {
    const session = await open();
    const first = await session.begin('echo first');
    await session.ended(first);
    for (let index = 1; index < REMEMBERED; index++) await session.run('true');
    await session.logs(first);
    const last = await session.begin(`: ${'é'.repeat(2_000)}`);
    await session.ended(last);
    await expect(session.logs(first)).rejects.toMatchObject({
      code: 'not_found',
      fields: { resource: 'command' },
    });
    const { sessions } = await sandbox.agent.listSessions(sandbox.id);
    const recent = sessions.find(({ sessionId }) => sessionId === session.id)?.recentCommands ?? [];
    expect(recent).toHaveLength(RECENT_COMMANDS);
    expect(recent[0]).toEqual({
      commandId: last,
      command: `: ${'é'.repeat(998)}`,
      status: 'completed',
      exitCode: 0,
    });
  });

  it('all logs together stay below 24 MiB: those that ended first go first, and what runs keeps less', async () => {
    await using noisy = await startScratchSandbox();
    const loud = 'head -c 600000 /dev/zero | tr "\\0" x; head -c 600000 /dev/zero | tr "\\0" y >&2';
    const session = await openSession(noisy);
    const ended: string[] = [];
    for (let index = 0; index < 14; index++) {
      const command = await session.begin(loud);
      await session.ended(command);
      ended.push(command);
    }
    await expect(session.logs(ended[0] ?? '')).rejects.toMatchObject({
      code: 'not_found',
      fields: { resource: 'command' },
      message: expect.stringContaining('gone'),
    });
    expect((await session.logs(ended.at(-1) ?? '')).stdout).toHaveLength(600_000);

    const running = await Promise.all(
      Array.from({ length: 14 }, async () => {
        const one = await openSession(noisy);
        const command = await one.begin(`${loud}; echo end; sleep 60`);
        await one.printed(command, 'end');
        return { one, command };
      }),
    );
    const logs = await Promise.all(running.map(({ one, command }) => one.logs(command)));
    const bytes = logs.map((log) => log.output.length + log.stdout.length + log.stderr.length);
    expect(bytes.reduce((total, one) => total + one)).toBeLessThan(MAX_LOG_BYTES + (2 << 20));
    expect(logs.some(({ truncated }) => truncated)).toBe(true);
    for (const { stdout } of logs) expect(stdout).toMatch(/^x+[\s\S]*end\n$/);
  }, 120_000);
});

it('a host that hangs up ends its waiting, not the command', async () => {
  const session = await open();
  const controller = new AbortController();
  const request = { sessionId: session.id, commandId: 'cmd_left', command: 'sleep 0.5; echo done' };
  const waiting = sandbox.agent.runSessionCommand(
    sandbox.id,
    { ...request, waitTurnMs: 20_000, waitRunMs: 20_000 },
    controller.signal,
  );
  const left = expect(waiting).rejects.toThrow('enough');
  await expect.poll(async () => (await session.logs('cmd_left').catch(() => null))?.status).toBe('running');
  controller.abort(new Error('enough'));
  await left;
  expect(await session.ended('cmd_left')).toMatchObject({ exitCode: 0, output: 'done\n' });
});

it('[WIRE-SESSION-08] a wait that is over answers with the present status', async () => {
  const session = await open();
  const ask = (command: string, waits: { waitTurnMs: number; waitRunMs: number }) =>
    sandbox.agent.runSessionCommand(sandbox.id, {
      ...{ sessionId: session.id, commandId: command.replaceAll(' ', ''), command },
      ...waits,
    });
  const running = await ask('echo some; sleep 60', { waitTurnMs: 20_000, waitRunMs: 500 });
  expect(running).toEqual({ status: 'running', exitCode: null, output: 'some\n' });
  const queued = await ask('true', { waitTurnMs: 50, waitRunMs: 20_000 });
  expect(queued).toEqual({ status: 'queued', exitCode: null, output: '' });
  await sandbox.sh('pkill -x sleep');
});

it('output names the stream of each piece to who asks for it, from any offset on', async () => {
  const { agent, id } = sandbox;
  const session = await openSession(sandbox);
  const command = await session.begin('printf out; printf err >&2; printf more; sleep 0.1; printf late >&2');
  await session.ended(command);
  const followed = async (offset: number) => {
    const asked = { sessionId: session.id, commandId: command, generation: 7, offset, waitMs: 0 };
    const { pieces } = await agent.followSessionBytes(id, { ...asked, streams: true });
    return pieces.map(({ stream, bytes }) => `${stream} ${bytes}`);
  };
  expect(await followed(0)).toEqual(['stdout out', 'stderr err', 'stdout more', 'stderr late']);
  expect(await followed(4)).toEqual(['stderr rr', 'stdout more', 'stderr late']);
  expect(await followed(12)).toEqual(['stderr te']);
});
