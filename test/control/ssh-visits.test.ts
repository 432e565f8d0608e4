import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SshVisits } from '../../src/control/access/ssh-visits.ts';
import { CallerRights } from '../../src/control/callers/caller-rights.ts';
import type { AccessToken, SandboxStore } from '../../src/control/ports/index.ts';
import { Environments } from '../../src/control/reach/environment.ts';
import { Activity } from '../../src/control/turns/activity.ts';
import { createOperationQueue } from '../../src/control/turns/operation-queue.ts';
import { OtherReplicas } from '../../src/control/turns/other-replicas.ts';
import { SandboxUses } from '../../src/control/work/sandbox-uses.ts';
import type { Sandbox } from '../../src/model/sandbox.ts';
import { createAlone } from '../../src/store/rows/alone.ts';
import { alice, sandboxRecord } from '../store/fixtures.ts';

const CHANNELS_PER_SANDBOX = 160;

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
  const store = {
    get: async () => sandbox,
    reread: async () => sandbox,
    touch: async () => {},
  } as unknown as SandboxStore;
  const activity = new Activity(Date, store);
  const owner = { ...alice };
  const callerRights = new CallerRights(
    {
      users: { findUser: async () => owner },
      keys: { find: async () => null },
      signIns: { findSignIn: async () => null },
      oauth: { findGrant: async () => null },
      teams: {
        find: async (id) => ({ id, name: 'red', createdAt: 0, quota: {} }),
        membership: async () => null,
      },
    },
    Date,
  );
  let die: () => void = () => {};
  const noted: object[] = [];
  const visits = new SshVisits({
    tokens: {
      check: async (_kind, text) => (text === TOKEN ? token : null),
      whileGranted: () => () => {},
      rightOf: () => ({}) as never,
    },
    uses: new SandboxUses(
      store,
      createOperationQueue(),
      activity,
      callerRights,
      new OtherReplicas(createAlone(), store),
      async () => {},
    ),
    agent: {
      watch: () =>
        new Promise((resolve) => {
          die = resolve;
        }),
    },
    runtime: { openChannel: async () => new PassThrough() },
    environments: new Environments({
      ...{ images: { get: async () => null }, runtime: { deviceEnvironment: () => ({}) } },
      secrets: { environment: async () => ({}) },
    }),
    audit: { note: (subject, { outcome }) => noted.push({ ...subject, outcome }) },
    clock: Date,
    log: { info: () => {}, warn: () => {}, error: () => {} },
  });
  const enter = async () => {
    const visit = await visits.enter(TOKEN, null, '::1');
    if (!visit) throw new Error('nobody came in');
    return visit;
  };
  return { visits, enter, sandbox, activity, owner, callerRights, noted, die: () => die() };
}

describe('a visit over SSH', () => {
  it('[WIRE-SSH-02] begins with the token alone, or with it as the password of its sandbox', async () => {
    const { visits, sandbox } = setUp();
    expect(await visits.enter(TOKEN, null, '::1')).toMatchObject({ tokenId: 'tok_1', sandboxId: sandbox.id });
    expect(await visits.enter(TOKEN, 'anything', '::1')).toMatchObject({ tokenId: 'tok_1' });
    expect(await visits.enter(sandbox.id, TOKEN, '::1')).toMatchObject({ tokenId: 'tok_1' });
    expect(await visits.enter('somebody', TOKEN, '::1')).toBeNull();
    expect(await visits.enter(sandbox.id, 'b'.repeat(26), '::1')).toBeNull();
    expect(await visits.enter(sandbox.id, null, '::1')).toBeNull();
  });

  it('works as the user of its sandbox, whose account the agent adds to the environment', async () => {
    const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
    const env = { PATH: path, LANG: 'C.UTF-8', OMP_NUM_THREADS: '2', PYTHON_CPU_COUNT: '2', A: 'b' };
    const ofAnn = await setUp({ sandbox: { user: 'ann' } }).enter();
    expect([ofAnn.user, ofAnn.env]).toEqual(['ann', env]);
    const ofRoot = await setUp().enter();
    expect([ofRoot.user, ofRoot.env]).toEqual([undefined, { ...env, HOME: '/root' }]);
  });

  it('is in the audit log with its token and its owner, when it begins and when it ends', async () => {
    const { enter, sandbox, noted } = setUp();
    const visit = await enter();
    const who = {
      caller: { id: sandbox.ownerId, keyId: 'tok_1' },
      origin: { transport: 'ssh', address: '::1' },
    };
    expect(noted).toMatchObject([{ action: 'ssh.login', outcome: 'ok', ...who }]);
    visit.leave();
    await expect.poll(() => noted).toMatchObject([{}, { action: 'ssh.logout', outcome: 'ok', ...who }]);
  });

  it('is in the audit log with the team that owns the sandbox, and no user', async () => {
    const ownerId = 'team_0000000000000001';
    const { enter, noted } = setUp({ sandbox: { ownerId } });
    (await enter()).leave();
    const caller = { id: null, keyId: 'tok_1', team: { id: ownerId } };
    await expect.poll(() => noted).toMatchObject([{ caller }, { caller }]);
  });

  it('is in the audit log once, with the reason, when it is refused', async () => {
    const { enter, noted } = setUp({ sandbox: { state: 'stopped' } });
    await enter();
    expect(noted).toMatchObject([{ action: 'ssh.login', outcome: 'invalid_state' }]);
  });

  it('[WIRE-AUTO-07] is activity for as long as it lasts', async () => {
    const { enter, activity, sandbox } = setUp();
    const visit = await enter();
    expect(activity.uses(sandbox.id)).toBe(1);
    visit.leave();
    await vi.waitFor(() => expect(activity.uses(sandbox.id)).toBe(0), 10_000);
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
    const { enter, owner, callerRights } = setUp();
    let ended = '';
    void (await enter()).ended.then((reason) => {
      ended = reason;
    });
    Object.assign(owner, { disabledAt: 1 });
    callerRights.ended(owner.id);
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

  it('is refused with advice while its sandbox is not started, and holds nothing', async () => {
    const { enter, activity, sandbox } = setUp({ sandbox: { state: 'stopped' } });
    const visit = await enter();
    expect(visit.refusal).toContain('StartSandbox');
    expect(activity.uses(sandbox.id)).toBe(0);
    await expect(visit.openChannel()).rejects.toMatchObject({ code: 'failed_precondition' });
  });

  it('opens no more channels than a sandbox has for SSH, and takes its own along when it ends', async () => {
    const { enter } = setUp();
    const [first, second] = [await enter(), await enter()];
    const asked = await Promise.allSettled(
      Array.from({ length: CHANNELS_PER_SANDBOX + 1 }, () => first.openChannel()),
    );
    const channels = asked.filter((one) => one.status === 'fulfilled').map(({ value }) => value);
    expect(channels).toHaveLength(CHANNELS_PER_SANDBOX);
    await expect(second.openChannel()).rejects.toMatchObject({ code: 'resource_exhausted' });
    first.leave();
    expect(channels.every(({ destroyed }) => destroyed)).toBe(true);
    await expect(first.openChannel()).rejects.toMatchObject({ code: 'failed_precondition' });
    await vi.waitFor(async () => expect(await second.openChannel()).toBeInstanceOf(PassThrough), 10_000);
  });
});
