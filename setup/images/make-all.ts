/** Makes the images for a cluster in dist/, and prints their digests and sizes. */
import { join } from 'node:path';
import { step } from '../command.ts';
import { makeOciImage, type OciImageName } from './oci-images.ts';

const names: OciImageName[] = ['sandhaven', 'sandhaven-agent', 'sandhaven-base'];

await step('images', async () => {
  const dist = join(import.meta.dirname, '../../dist');
  for (const name of names) {
    const made = await makeOciImage(name, dist);
    const about = made ? `${made.digest} (${(made.bytes / 1e6).toFixed(1)} MB)` : 'is made already';
    console.log(`dist/${name}.oci: ${about}`);
  }
});
