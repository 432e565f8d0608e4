import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Activity } from '../../src/control/activity.ts';
import { Environments } from '../../src/control/environment.ts';
import type { AccessToken, SandboxStore } from '../../src/control/ports.ts';
import { OperationQueue } from '../../src/control/queue.ts';
import { SshVisits } from '../../src/control/ssh-visits.ts';
import { Standing } from '../../src/control/standing.ts';
import { Uses } from '../../src/control/use.ts';
import { limits } from '../../src/model/limits.ts';
import type { Sandbox } from '../../src/model/sandbox.ts';
import { alice, sandboxRecord } from '../store/fixtures.ts';

const TOKEN = 'a'.repeat(26);
const DAY_MS = 24 * 60 * 60 * 1000;

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

function setUp(changes: { expiresAt?: number | null; sandbox?: Partial<Sandbox> } = {}) {
  const sandbox = sandboxRecord({ state: 'started', envVars: { A: 'b' }, ...changes.sandbox });
  const token = {
    id: 'tok_1',
    sandboxId: sandbox.id,
    kind: 'ssh',
    expiresAt: changes.expiresAt ?? null,
  } as AccessToken;
  const store = { get: async () => sandbox, touch: async () => {} } as unknown as SandboxStore;
  const activity = new Activity(Date, store);
  const owner = { ...alice };
  const standing = new Standing({ findUser: async () => owner }, Date);
  let die: () => void = () => {};
  const visits = new SshVisits({
    tokens: { check: async (_kind, text) => (text === TOKEN ? token : null) },
    uses: new Uses(store, new OperationQueue(), activity, standing),
    agent: {
      watch: () =>
        new Promise((resolve) => {
          die = resolve;
        }),
    },
    runtime: { openChannel: async () => new PassThrough() },
    environments: new Environments({ get: async () => null }, { deviceEnvironment: () => ({}) }),
    clock: Date,
    log: { info: () => {}, warn: () => {}, error: () => {} },
  });
  const enter = async () => {
    const visit = await visits.enter(TOKEN, null);
    if (!visit) throw new Error('nobody came in');
    return visit;
  };
  return { visits, enter, sandbox, activity, owner, standing, die: () => die() };
}

describe('a visit over SSH', () => {
  it('[WIRE-SSH-02] begins with the token alone, or with it as the password of its sandbox', async () => {
    const { visits, sandbox } = setUp();
    expect(await visits.enter(TOKEN, null)).toMatchObject({ tokenId: 'tok_1', sandboxId: sandbox.id });
    expect(await visits.enter(TOKEN, 'anything')).toMatchObject({ tokenId: 'tok_1' });
    expect(await visits.enter(sandbox.id, TOKEN)).toMatchObject({ tokenId: 'tok_1' });
    expect(await visits.enter('somebody', TOKEN)).toBeNull();
    expect(await visits.enter(sandbox.id, 'b'.repeat(26))).toBeNull();
    expect(await visits.enter(sandbox.id, null)).toBeNull();
  });

  it('[WIRE-AUTO-07] is activity for as long as it lasts', async () => {
    const { enter, activity, sandbox } = setUp();
    const visit = await enter();
    expect(activity.uses(sandbox.id)).toBe(1);
    visit.leave();
    await vi.waitFor(() => expect(activity.uses(sandbox.id)).toBe(0));
  });

  it('[SBX-SSH-05] ends at the moment at which its token expires, however far that is', async () => {
    const { enter } = setUp({ expiresAt: 100 * DAY_MS });
    let ended = '';
    void (await enter()).ended.then((reason) => {
      ended = reason;
    });
    await vi.advanceTimersByTimeAsync(100 * DAY_MS - 1);
    expect(ended).toBe('');
    await vi.advanceTimersByTimeAsync(1);
    expect(ended).toContain('expired');
  });

  it("ends when the sandbox's owner is disabled, and is refused from then on", async () => {
    const { enter, owner, standing } = setUp();
    let ended = '';
    void (await enter()).ended.then((reason) => {
      ended = reason;
    });
    Object.assign(owner, { disabledAt: 1 });
    standing.ended(owner.id);
    await vi.advanceTimersByTimeAsync(1);
    expect(ended).toContain('disabled');
    expect((await enter()).refusal).toContain("The sandbox's owner is disabled.");
  });

  it('[SBX-SSH-03] with a token that never expires does not end by itself', async () => {
    const { enter } = setUp();
    const ended = vi.fn();
    void (await enter()).ended.then(ended);
    await vi.advanceTimersByTimeAsync(1_000 * DAY_MS);
    expect(ended).not.toHaveBeenCalled();
  });

  it('ends when the machine is gone', async () => {
    const { enter, die } = setUp();
    const visit = await enter();
    die();
    expect(await visit.ended).toContain('was stopped');
  });

  it('to a sandbox that is not started says what to do, and holds nothing', async () => {
    const { enter, activity, sandbox } = setUp({ sandbox: { state: 'stopped' } });
    const visit = await enter();
    expect(visit.refusal).toContain('StartSandbox');
    expect(activity.uses(sandbox.id)).toBe(0);
    await expect(visit.openChannel()).rejects.toMatchObject({ code: 'failed_precondition' });
  });

  it('opens no more channels than a sandbox has for SSH, and takes its own along when it ends', async () => {
    const { enter } = setUp();
    const [first, second] = [await enter(), await enter()];
    const channels = await Promise.all(
      Array.from({ length: limits.ssh.agentChannelsPerSandbox }, () => first.openChannel()),
    );
    await expect(second.openChannel()).rejects.toMatchObject({ code: 'resource_exhausted' });
    first.leave();
    expect(channels.every(({ destroyed }) => destroyed)).toBe(true);
    await expect(first.openChannel()).rejects.toMatchObject({ code: 'failed_precondition' });
    await vi.waitFor(async () => expect(await second.openChannel()).toBeInstanceOf(PassThrough));
  });
});
