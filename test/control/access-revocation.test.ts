/** Access that was given out and is taken back: the tokens, what is open by them, and who is being let in just then. */
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { PreviewAccess } from '../../src/control/access/preview-access.ts';
import { SshVisits } from '../../src/control/access/ssh-visits.ts';
import { AccessService } from '../../src/control/access/tokens.ts';
import type { Store } from '../../src/control/ports/index.ts';
import type { Sandbox } from '../../src/model/sandbox.ts';
import { sandboxId, sandboxRecord } from '../store/fixtures.ts';
import { memoryStore } from '../store/memory/memory-store.ts';

const BOX = sandboxId(1);
const OTHER = sandboxId(2);
/** Any part that the rule does not look at. */
const unused = {} as never;

let store: Store;
let access: AccessService;

beforeEach(async () => {
  store = memoryStore();
  for (const id of [BOX, OTHER]) await store.sandboxes.insert(sandboxRecord({ id, state: 'started' }));
  access = new AccessService({
    ...{ tokens: store.accessTokens, clock: { now: () => 1_000 } },
    previewKey: Buffer.alloc(32, 7),
  });
});

const held = { name: 'held', holds: async () => true };

describe('tokens', () => {
  const mintBoth = async (id: string) => {
    const ssh = await access.mint(id, 'ssh', { port: null, expiresAt: null });
    const preview = await access.mint(id, 'preview', { port: 80, expiresAt: 2_000 });
    return { ssh: ssh.token, preview: preview.token };
  };

  it('of the kinds that are revoked are good for nothing, and others stay', async () => {
    const [own, others] = [await mintBoth(BOX), await mintBoth(OTHER)];
    expect(await access.revoke(BOX, ['ssh'])).toEqual({ ssh: 1, preview: 0 });
    expect(await access.check('ssh', own.ssh)).toBeNull();
    expect(await access.check('preview', own.preview)).not.toBeNull();
    expect(await access.revoke(BOX, ['ssh', 'preview'])).toEqual({ ssh: 0, preview: 1 });
    expect(await access.check('preview', own.preview)).toBeNull();
    expect(await access.check('ssh', others.ssh)).not.toBeNull();
    expect(await access.check('preview', others.preview)).not.toBeNull();
    const { token } = await access.mint(BOX, 'ssh', { port: null, expiresAt: null });
    expect(await access.check('ssh', token)).not.toBeNull();
  });

  it('of standard previews are what they always were until they are revoked, and others each time after', async () => {
    const first = await access.previewToken(BOX, 80);
    expect(first).toBe('zu2cxr5ggnxz6aktqn3ggenxem');
    await access.revoke(BOX, ['ssh']);
    expect(await access.isPreviewToken(BOX, 80, first)).toBe(true);
    await access.revoke(BOX, ['preview']);
    const second = await access.previewToken(BOX, 80);
    await access.revoke(BOX, ['preview']);
    const third = await access.previewToken(BOX, 80);
    expect(new Set([first, second, third]).size).toBe(3);
    const good = await Promise.all([first, second, third].map((t) => access.isPreviewToken(BOX, 80, t)));
    expect(good).toEqual([false, false, true]);
  });
});

describe('an open connection', () => {
  it('ends by sandbox and kind, and once', async () => {
    const ends = { ssh: vi.fn(), preview: vi.fn(), other: vi.fn(), left: vi.fn() };
    access.whileGranted('ssh', BOX, ends.ssh, held);
    access.whileGranted('preview', BOX, ends.preview, held);
    access.whileGranted('ssh', OTHER, ends.other, held);
    access.whileGranted('ssh', BOX, ends.left, held)();
    await access.revoke(BOX, ['ssh']);
    await turn();
    const calls = Object.values(ends).map((end) => end.mock.calls.length);
    expect(calls).toEqual([1, 0, 0, 0]);
  });

  it('ends too when it is let in during the revocation', async () => {
    const { token } = await access.mint(BOX, 'ssh', { port: null, expiresAt: null });
    const end = vi.fn();
    const letIn = access.check('ssh', token).then((found) => {
      // The rows are removed by now, and what was open has been ended.
      expect(found).not.toBeNull();
      return Promise.resolve().then(() => access.whileGranted('ssh', BOX, end, held));
    });
    await Promise.all([letIn, access.revoke(BOX, ['ssh'])]);
    await turn();
    expect(end).toHaveBeenCalledOnce();
  });
});

/** Entering waits, as it does while an operation on the sandbox goes on. */
function waitingUses() {
  const { promise, resolve: enter } = Promise.withResolvers<void>();
  const sandbox = sandboxRecord({ id: BOX, ownerId: 'user_ada', state: 'started' });
  const connected = async <T>(_id: string, work: (sandbox: Sandbox) => Promise<T>) => {
    await promise;
    return work(sandbox);
  };
  return { uses: { connected } as never, enter };
}

describe('a caller who waits for the sandbox while access is revoked', () => {
  it('does not reach the port of a preview', async () => {
    const { uses, enter } = waitingUses();
    const previews = new PreviewAccess({ access, uses, agent: unused, grants: unused, clock: unused });
    const [expire, work] = [vi.fn(), vi.fn(async () => {})];
    const admission = { sandboxId: BOX, port: 80, tokenId: null, expiresAt: null, right: held };
    const visiting = previews.visit(admission, null, expire, work);
    await access.revoke(BOX, ['preview']);
    enter();
    await visiting;
    expect([expire.mock.calls.length, work.mock.calls.length]).toEqual([1, 0]);
  });

  it('is refused over SSH', async () => {
    const { uses, enter } = waitingUses();
    const visits = new SshVisits({
      ...{ tokens: access, uses, clock: unused },
      agent: { watch: () => new Promise(() => {}) },
      runtime: { openChannel: async () => new PassThrough() },
      environments: { of: async () => ({}) },
      audit: { note: () => {} },
      log: { info: () => {}, warn: () => {}, error: () => {} },
    });
    const { token } = await access.mint(BOX, 'ssh', { port: null, expiresAt: null });
    const entering = visits.enter(token, null, null);
    await turn();
    await access.revoke(BOX, ['ssh']);
    enter();
    const visit = await entering;
    expect(visit?.refusal).toContain('revoked');
    await expect(visit?.openChannel()).rejects.toMatchObject({ code: 'failed_precondition' });
  });
});
