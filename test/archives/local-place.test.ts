import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalPlace } from '../../src/runtime/oci/disk/local-place.ts';
import { placeConformance } from './place-conformance.ts';

placeConformance('archives on this host', 2 ** 20, async () => {
  const sandboxes = mkdtempSync(join(tmpdir(), 'sandhaven-local-place-'));
  const archive = (id: string) => join(sandboxes, id, 'archive.tar.zst');
  return {
    place: createLocalPlace({ sandboxes, archive }),
    prepare: async (id) => void mkdirSync(join(sandboxes, id)),
    leaveHalf: async (id) => writeFileSync(`${archive(id)}.partial`, 'half'),
    halves: async () => readdirSync(sandboxes).filter((id) => existsSync(`${archive(id)}.partial`)).length,
    remove: async () => rmSync(sandboxes, { recursive: true }),
  };
});
