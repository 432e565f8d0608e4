/** Copies of disk images that share no blocks leave the host's disk the room that it keeps. */
import { mkdtempSync, rmSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { assertRoomForCopy } from '../../../src/runtime/oci/disk/copy-image.ts';

const KEPT_FREE_BYTES = 4 * 1_073_741_824;

it('a copy that would take the room that the host keeps is refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-copy-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  await expect(assertRoomForCopy(folder, free - KEPT_FREE_BYTES + 1_073_741_824)).rejects.toMatchObject({
    code: 'resource_exhausted',
  });
  await expect(assertRoomForCopy(folder, free - KEPT_FREE_BYTES - 1_073_741_824)).resolves.toBeUndefined();
});
