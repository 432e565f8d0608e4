/** What every store does with tokens of the gateways. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { AccessToken, Store } from '../../../src/control/ports/index.ts';
import { newTokenId } from '../../../src/model/ids.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import { sandboxRecord } from '../fixtures.ts';

export function accessConformance(name: string, store: () => Store): void {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  const insertSandbox = async (): Promise<Sandbox> => {
    const sandbox = sandboxRecord();
    await store().sandboxes.insert(sandbox);
    return sandbox;
  };
  const insert = async (overrides: Partial<AccessToken> & { sandboxId: string }): Promise<AccessToken> => {
    const id = newTokenId();
    const record: AccessToken = {
      ...{ id, kind: 'preview', port: 80, hash: hash(id), createdAt: 1_000, expiresAt: 2_000 },
      ...overrides,
    };
    await store().accessTokens.insert(record);
    return record;
  };

  describe(`${name}: access tokens`, () => {
    it('come back whole, by kind and hash alone', async () => {
      const { id } = await insertSandbox();
      const preview = await insert({ sandboxId: id, port: 65_535 });
      const ssh = await insert({ sandboxId: id, kind: 'ssh', port: null, expiresAt: null });
      expect(await store().accessTokens.byHash('preview', preview.hash)).toEqual(preview);
      expect(await store().accessTokens.byHash('ssh', ssh.hash)).toEqual(ssh);
      expect(await store().accessTokens.byHash('ssh', preview.hash)).toBeNull();
      expect(await store().accessTokens.byHash('preview', hash('another'))).toBeNull();
    });

    it('are counted by sandbox and kind, without those that have expired', async () => {
      const { id } = await insertSandbox();
      const other = await insertSandbox();
      await insert({ sandboxId: id, expiresAt: 2_000 });
      await insert({ sandboxId: id, expiresAt: null });
      await insert({ sandboxId: id, kind: 'ssh', port: null });
      await insert({ sandboxId: other.id });
      expect(await store().accessTokens.count(id, 'preview', 1_999)).toBe(2);
      expect(await store().accessTokens.count(id, 'preview', 2_000)).toBe(1);
      expect(await store().accessTokens.count(id, 'ssh', 0)).toBe(1);
    });

    it('go once they have expired, and not before', async () => {
      const { id } = await insertSandbox();
      const old = await insert({ sandboxId: id, expiresAt: 1_999 });
      const young = await insert({ sandboxId: id, expiresAt: 2_001 });
      const eternal = await insert({ sandboxId: id, expiresAt: null });
      await store().accessTokens.prune(2_000);
      expect(await store().accessTokens.byHash('preview', old.hash)).toBeNull();
      expect(await store().accessTokens.byHash('preview', young.hash)).toEqual(young);
      expect(await store().accessTokens.byHash('preview', eternal.hash)).toEqual(eternal);
    });

    it('are revoked by sandbox and kind; those that had not expired are counted', async () => {
      const { id } = await insertSandbox();
      const other = await insertSandbox();
      const preview = await insert({ sandboxId: id, expiresAt: null });
      await insert({ sandboxId: id, expiresAt: 1_999 });
      const ssh = await insert({ sandboxId: id, kind: 'ssh', port: null });
      const others = await insert({ sandboxId: other.id });
      const left = async (records: AccessToken[]) =>
        Promise.all(
          records.map(async ({ kind, hash }) => (await store().accessTokens.byHash(kind, hash)) !== null),
        );
      expect(await store().accessTokens.revoke(id, ['preview'], 1_999)).toEqual({ ssh: 0, preview: 1 });
      expect(await left([preview, ssh, others])).toEqual([false, true, true]);
      expect(await store().accessTokens.revoke(id, ['ssh', 'preview'], 0)).toEqual({ ssh: 1, preview: 0 });
      expect(await left([preview, ssh, others])).toEqual([false, false, true]);
    });

    it('of previews have an epoch, which a revocation of previews raises for its sandbox alone', async () => {
      const sandbox = await insertSandbox();
      const other = await insertSandbox();
      const epochs = () =>
        Promise.all([sandbox, other].map(({ id }) => store().accessTokens.previewEpoch(id)));
      expect(await epochs()).toEqual([0, 0]);
      await store().accessTokens.revoke(sandbox.id, ['ssh'], 0);
      expect(await epochs()).toEqual([0, 0]);
      await store().accessTokens.revoke(sandbox.id, ['preview'], 0);
      await store().accessTokens.revoke(sandbox.id, ['ssh', 'preview'], 0);
      expect(await epochs()).toEqual([2, 0]);
      await store().sandboxes.remove(sandbox.id, sandbox.generation);
      expect(await epochs()).toEqual([0, 0]);
      await store().accessTokens.revoke(sandbox.id, ['preview'], 0);
      expect(await epochs()).toEqual([0, 0]);
    });

    it('of signing keys have an epoch, which a raise changes for its sandbox, and a revocation of previews too', async () => {
      const [sandbox, other] = [await insertSandbox(), await insertSandbox()];
      const { accessTokens } = store();
      const epochs = () => Promise.all([sandbox, other].map(({ id }) => accessTokens.signingEpoch(id)));
      expect(await epochs()).toEqual(['0 0', '0 0']);
      await accessTokens.raiseSigningEpoch(sandbox.id);
      await accessTokens.raiseSigningEpoch(sandbox.id);
      expect(await epochs()).toEqual(['0 2', '0 0']);
      await accessTokens.revoke(sandbox.id, ['preview'], 0);
      expect(await epochs()).toEqual(['1 2', '0 0']);
      expect(await accessTokens.previewEpoch(sandbox.id)).toBe(1);
      await store().sandboxes.remove(sandbox.id, sandbox.generation);
      await accessTokens.raiseSigningEpoch(sandbox.id);
      expect(await epochs()).toEqual(['0 0', '0 0']);
    });

    it('of the sandbox itself have an epoch, which only their revocation raises', async () => {
      const [sandbox, other] = [await insertSandbox(), await insertSandbox()];
      const { accessTokens } = store();
      const epochs = () => Promise.all([sandbox, other].map(({ id }) => accessTokens.tokenEpoch(id)));
      expect(await accessTokens.revoke(sandbox.id, ['token'], 0)).toEqual({ ssh: 0, preview: 0 });
      await accessTokens.revoke(sandbox.id, ['ssh', 'preview'], 0);
      expect(await epochs()).toEqual([1, 0]);
      await accessTokens.revoke(sandbox.id, ['token'], 0);
      expect(await epochs()).toEqual([2, 0]);
      expect(await accessTokens.signingEpoch(sandbox.id)).toBe('1 0');
      await store().sandboxes.remove(sandbox.id, sandbox.generation);
      expect(await epochs()).toEqual([0, 0]);
    });

    it('are not needed for public ports, which a revocation of previews closes', async () => {
      const [sandbox, other] = [await insertSandbox(), await insertSandbox()];
      const { accessTokens } = store();
      const ports = () => Promise.all([sandbox, other].map(({ id }) => accessTokens.publicPorts(id)));
      expect(await ports()).toEqual([[], []]);
      await accessTokens.setPublicPorts(sandbox.id, [3000, 80]);
      expect(await ports()).toEqual([[3000, 80], []]);
      await accessTokens.setPublicPorts(sandbox.id, 'all');
      await accessTokens.revoke(sandbox.id, ['ssh', 'token'], 0);
      expect(await ports()).toEqual(['all', []]);
      await accessTokens.revoke(sandbox.id, ['preview'], 0);
      expect(await ports()).toEqual([[], []]);
      await accessTokens.setPublicPorts(other.id, [80]);
      await accessTokens.setPublicPorts(other.id, []);
      expect(await ports()).toEqual([[], []]);
      expect(await accessTokens.previewEpoch(other.id)).toBe(0);
      await store().sandboxes.remove(sandbox.id, sandbox.generation);
      await accessTokens.setPublicPorts(sandbox.id, 'all');
      expect(await ports()).toEqual([[], []]);
    });

    it('are removed one by one, each by its hash, and only from their sandbox', async () => {
      const [sandbox, other] = [await insertSandbox(), await insertSandbox()];
      const { accessTokens } = store();
      const one = await insert({ sandboxId: sandbox.id });
      const { hash: kept } = await insert({ sandboxId: sandbox.id });
      expect(await accessTokens.remove(other.id, one.hash)).toBeNull();
      expect(await accessTokens.remove(sandbox.id, one.hash)).toEqual(one);
      expect(await accessTokens.remove(sandbox.id, one.hash)).toBeNull();
      expect(await accessTokens.byHash('preview', one.hash)).toBeNull();
      expect(await accessTokens.byHash('preview', kept)).not.toBeNull();
    });

    it('go with their sandbox, and come into being with none that is gone', async () => {
      const sandbox = await insertSandbox();
      const { hash: kept } = await insert({ sandboxId: (await insertSandbox()).id });
      const { hash: gone } = await insert({ sandboxId: sandbox.id });
      await store().sandboxes.remove(sandbox.id, sandbox.generation);
      expect(await store().accessTokens.byHash('preview', gone)).toBeNull();
      expect(await store().accessTokens.byHash('preview', kept)).not.toBeNull();
      await expect(insert({ sandboxId: sandbox.id })).rejects.toMatchObject({
        code: 'not_found',
        fields: { resource: 'sandbox' },
      });
    });
  });
}
