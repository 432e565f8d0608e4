import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runtimeConformance } from './conformance.ts';
import { createInstance, execIn, removeInstance, runtimeOver, tracesOf } from './host.ts';

runtimeConformance('the OCI runtime', async () => {
  const instance = createInstance();
  const runtime = runtimeOver(instance);
  await runtime.init();
  const archive = (id: string): string => join(instance.dataDir, 'sandboxes', id, 'archive.tar.zst');
  return {
    runtime,
    async again() {
      const other = runtimeOver(instance);
      await other.init();
      return other;
    },
    imageDigest: 'base',
    exec: execIn,
    async damageArchive(id) {
      const bytes = await readFile(archive(id));
      const middle = Math.floor(bytes.length / 2);
      bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
      await writeFile(archive(id), bytes);
    },
    async exchangeArchives(one, other) {
      await rename(archive(one), `${archive(one)}.aside`);
      await rename(archive(other), archive(one));
      await rename(`${archive(one)}.aside`, archive(other));
    },
    traces: (id) => tracesOf(instance, id),
    remove: () => removeInstance(instance),
  };
});
