/** CreateSnapshot, GetSnapshot, ListSnapshots: of an image from a registry that is there for this walk alone. */
import { expect } from 'vitest';
import { startRawRegistry } from '../../images/registry/raw-registry.ts';
import { freePort } from '../../images/registry/registry.ts';
import { tarGz } from '../../images/tar.ts';
import type { Walk } from './walk.ts';

const port = await freePort();
/** Flags of a service that may be walked: it lets in the registry of this walk. */
export const walkedFlags = ['--registry-allow', `all,127.0.0.1:${port}`];

let walked = 0;

export const snapshots: Walk = async (ok) => {
  const registry = await startRawRegistry(port);
  try {
    registry.put('walk', { layers: [tarGz([{ name: 'etc/motd', content: 'hello' }])] });
    const name = `walk ${++walked}`;
    const created = await ok('CreateSnapshot', {
      name,
      image: `${registry.address}/walk:1`,
      entrypoint: ['/bin/none', 'with argument'],
      resources: { cpu: 1, disk: 1 },
    });
    expect(created).toMatchObject({ name, state: 'pending', entrypoint: ['/bin/none', 'with argument'] });
    const state = async () => (await ok('GetSnapshot', { snapshot: name }))['state'];
    await expect.poll(state, { timeout: 60_000 }).toBe('active');
    const { snapshots: listed } = await ok('ListSnapshots', { page_size: 1 });
    expect(listed).toMatchObject([{ id: created['id'], resources: { cpu: 1, memory: 4, disk: 1, gpu: 0 } }]);
  } finally {
    await registry.close();
  }
};
