/** The image of the demo database, made by the project's own set-up. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { SandhavenError } from '../model/errors.ts';
import type { Steps } from './sandbox.ts';

const setup = (file: string) => fileURLToPath(new URL(`../../setup/${file}`, import.meta.url));

/** Does nothing when it is there, and takes a minute or two when it is not. Must run where the service runs. */
export async function buildImage({ signal, say }: Steps): Promise<void> {
  const script = [setup('locked.sh'), process.execPath, setup('documentdb-image.ts')] as const;
  const child = spawn(script[0], script.slice(1), { signal, stdio: ['ignore', 'pipe', 'pipe'] });
  let last = '';
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on('line', (text) => {
      last = text;
      say(text);
    });
  }
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  if (status === 0) return;
  throw new SandhavenError('unavailable', `The image of the demo database cannot be built: ${last}`, {
    hint: 'It is built as root, from Debian packages; `make documentdb-image` shows more.',
  });
}
