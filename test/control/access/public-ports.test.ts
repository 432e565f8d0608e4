/** Ports that are open to everybody: who is let in, how many at once, and until when. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { PreviewAccess } from '../../../src/control/access/preview-access.ts';
import { PublicPortService } from '../../../src/control/access/public-ports.ts';
import { AccessService } from '../../../src/control/access/tokens.ts';
import type { PreviewGrant } from '../../../src/control/audit/preview-grants.ts';
import type { Store } from '../../../src/control/ports/index.ts';
import type { User } from '../../../src/model/user.ts';
import { sandboxId, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

const BOX = sandboxId(1);
const owner: User = { id: 'user_1', name: 'Ada', email: 'ada@example.org' };
const REQUESTS_OF_A_NETWORK = 64;
const unused = {} as never;

let store: Store;
let access: AccessService;
let grants: PreviewGrant[];

beforeEach(async () => {
  store = memoryStore();
  await store.sandboxes.insert(sandboxRecord({ id: BOX, name: 'box', ownerId: owner.id, state: 'started' }));
  access = new AccessService({ tokens: store.accessTokens, clock: Date, previewKey: Buffer.alloc(32, 7) });
  grants = [];
});

const services = (mayBePublic: boolean) => {
  const connected = async (_id: string, work: (sandbox: { ownerId: string }) => unknown) =>
    work({ ownerId: owner.id });
  const previews = new PreviewAccess({
    ...{ access, agent: unused, clock: unused, mayBePublic },
    uses: { connected } as never,
    grants: { note: (grant) => void grants.push(grant) },
  });
  return { previews, ports: new PublicPortService({ sandboxes: store.sandboxes, access, mayBePublic }) };
};

/** A visit that goes on until its end. */
async function visiting(previews: PreviewAccess, address: string, port = 80) {
  const admission = await previews.admitPublic(BOX, port);
  if (!admission) throw new Error('not admitted');
  const { promise, resolve } = Promise.withResolvers<void>();
  const expire = vi.fn(() => resolve());
  const over = previews.visit(admission, address, expire, () => promise);
  return { over, expire, leave: resolve };
}

describe('a port', () => {
  it('is closed until its owner opens it, and then open alone', async () => {
    const { previews, ports } = services(true);
    expect(await previews.admitPublic(BOX, 80)).toBeNull();
    expect(await ports.set(owner, 'box', [80])).toEqual({ sandboxId: BOX, ports: [80] });
    expect(await previews.admitPublic(BOX, 80)).toMatchObject({
      sandboxId: BOX,
      port: 80,
      tokenId: 'public',
    });
    expect(await previews.admitPublic(BOX, 81)).toBeNull();
    expect(await previews.admitPublic(sandboxId(2), 80)).toBeNull();
    await ports.set(owner, 'box', 'all');
    expect(await previews.admitPublic(BOX, 81)).not.toBeNull();
    expect(await ports.isOpen(BOX)).toBe(true);
  });

  it('is opened by nobody where the operator does not allow it, and is closed when that ends', async () => {
    const { ports } = services(true);
    await ports.set(owner, 'box', 'all');
    const later = services(false);
    expect(await later.previews.admitPublic(BOX, 80)).toBeNull();
    expect(await later.ports.of(owner, 'box')).toEqual({ sandboxId: BOX, ports: [] });
    await expect(later.ports.set(owner, 'box', [80])).rejects.toMatchObject({
      code: 'permission_denied',
      message: 'No port is open to everybody here.',
    });
    await later.ports.set(owner, 'box', []);
    expect(await services(true).previews.admitPublic(BOX, 80)).toBeNull();
  });

  it("is opened by its sandbox's owner alone", async () => {
    const { ports } = services(true);
    await expect(ports.set({ ...owner, id: 'user_2' }, 'box', [80])).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

describe('visitors without a token', () => {
  it('have a share by their network, and those of others go on', async () => {
    const { previews, ports } = services(true);
    await ports.set(owner, 'box', [80]);
    const visits = [];
    for (let i = 0; i < REQUESTS_OF_A_NETWORK; i++) visits.push(await visiting(previews, `192.0.2.${i}`));
    const refused = await visiting(previews, '192.0.2.200');
    await expect(refused.over).rejects.toMatchObject({ code: 'resource_exhausted' });
    const other = await visiting(previews, '198.51.100.1');
    for (const { leave } of [...visits, other]) leave();
    await Promise.all([...visits, other].map(({ over }) => over));
    const again = await visiting(previews, '192.0.2.1');
    again.leave();
    await again.over;
  });

  it('are noted without their addresses', async () => {
    const { previews, ports } = services(true);
    await ports.set(owner, 'box', [80]);
    const { leave, over } = await visiting(previews, '192.0.2.1');
    leave();
    await over;
    expect(grants).toEqual([
      { sandboxId: BOX, ownerId: 'user_1', port: 80, tokenId: 'public', address: null },
    ]);
  });

  it.each([
    ['the port is closed', () => services(true).ports.set(owner, 'box', [])],
    ['previews are revoked', () => access.revoke(BOX, ['preview'])],
    ['tokens of the sandbox are revoked', () => access.revoke(BOX, ['token'])],
  ])('leave when %s', async (_why, end) => {
    const { previews, ports } = services(true);
    await ports.set(owner, 'box', [80]);
    const { over, expire } = await visiting(previews, '192.0.2.1');
    await end();
    await over;
    expect(expire).toHaveBeenCalled();
    expect(await previews.admitPublic(BOX, 80)).toBeNull();
  });
});
