/** What owners share at the gateways: one who takes all that he can get leaves the rest to the others. */
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { PreviewAccess } from '../../src/control/access/preview-access.ts';
import { SshVisits } from '../../src/control/access/ssh-visits.ts';
import { type RemoteOperation, withRemote } from '../../src/control/git/remote.ts';
import { Shares } from '../../src/fairness/shares.ts';
import { sandboxRecord } from '../store/fixtures.ts';

const PREVIEW_REQUESTS_PER_OWNER = 512;
const SSH_CONNECTIONS_PER_OWNER = 64;

/** Any part that the rule does not look at. */
const unused = {} as never;

/** Sandboxes are named by their owners: `ada 3` is Ada's. */
const uses = {
  connected: <T>(id: string, work: (sandbox: never) => Promise<T>) =>
    work(sandboxRecord({ id, ownerId: id.split(' ')[0] ?? '' }) as never),
};

describe('requests to previews', () => {
  const visiting = () => {
    const access = new PreviewAccess({
      access: { whileGranted: () => () => {} } as never,
      ...{ agent: unused, clock: unused },
      uses: uses as never,
      grants: { note: () => {} },
    });
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const visit = (sandboxId: string) =>
      access.visit(
        { sandboxId, port: 80, tokenId: null, expiresAt: null, right: {} as never },
        null,
        () => {},
        () => over,
      );
    return { visit, end };
  };

  it('have a share per owner, over all of his sandboxes', async () => {
    const { visit, end } = visiting();
    const his = Array.from({ length: PREVIEW_REQUESTS_PER_OWNER }, (_, at) => visit(`ada ${at}`));
    await expect(visit('ada 9999')).rejects.toMatchObject({ code: 'resource_exhausted' });
    const hers = visit('eve 1');
    end();
    await Promise.all([...his, hers]);
    await expect(visit('ada 1')).resolves.toBeUndefined();
  });
});

describe('SSH connections', () => {
  it('have a share per owner, and a refused one gets the reason', async () => {
    const visits = new SshVisits({
      tokens: {
        check: async (_kind, text) => ({ id: text, sandboxId: text, expiresAt: null }) as never,
        whileGranted: () => () => {},
        rightOf: () => ({}) as never,
      },
      uses: uses as never,
      agent: { watch: () => new Promise(() => {}) },
      runtime: { openChannel: async () => new PassThrough() },
      environments: { of: async () => ({}) },
      audit: { note: () => {} },
      clock: unused,
      log: { info: () => {}, warn: () => {}, error: () => {} },
    });
    const his = [];
    for (let at = 0; at < SSH_CONNECTIONS_PER_OWNER; at++) {
      his.push(await visits.enter(`ada ${at}`, null, null));
    }
    expect(his.filter((visit) => visit?.refusal !== null)).toEqual([]);
    expect((await visits.enter('ada 9999', null, null))?.refusal).toContain(
      '64 SSH connections are open for you',
    );
    expect((await visits.enter('eve 1', null, null))?.refusal).toBeNull();
    his[0]?.leave();
    await expect.poll(async () => (await visits.enter('ada 1', null, null))?.refusal).toBeNull();
  });
});

describe('Git proxies', () => {
  it('have a share per owner, which a failed operation gives back', async () => {
    const proxies = new Shares({ total: 3, perOwner: 2, what: 'operations on Git remotes are in progress' });
    const { promise: broken, reject } = Promise.withResolvers<never>();
    broken.catch(() => {});
    const parts = (id: string) =>
      ({ proxies, caller: { id }, onProgress: () => {}, gateway: { open: () => broken } }) as never;
    const operation = {
      remote: { url: {}, shown: 'x' },
      access: {},
      purpose: {},
      doing: 'Cloning',
    } as unknown as RemoteOperation;
    const git = { place: { agent: {}, sandboxId: 'x' } } as never;
    const clone = (owner: string) => withRemote(git, parts(owner), operation, async () => {});
    const his = [clone('ada'), clone('ada')];
    await expect(clone('ada')).rejects.toMatchObject({ code: 'resource_exhausted' });
    const hers = clone('eve');
    reject(new Error('no route'));
    for (const each of [...his, hers]) await expect(each).rejects.toThrow('no route');
    expect(proxies.total).toBe(0);
  });
});
