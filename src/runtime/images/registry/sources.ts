/** Sources of an image: mirrors of its registry, in their order, then the registry itself. */
import type { Log } from '../../../control/ports/index.ts';
import { isLoopbackRegistry, type RegistryMirror, registryKey } from '../../../model/registries.ts';
import { formatReference, type ImageReference } from './reference.ts';

export interface Source {
  reference: ImageReference;
  isMirror: boolean;
}

/**
 * Returns the result of the first source that succeeds; skips a mirror after any failure. The content of a digest is
 * the same everywhere, and is checked whatever its source; for the meaning of a tag, a mirror is trusted.
 */
export async function fromFirst<T>(
  { mirrors, log }: { mirrors: readonly RegistryMirror[]; log: Log },
  { reference, signal }: { reference: ImageReference; signal: AbortSignal },
  work: (source: Source) => Promise<T>,
): Promise<T> {
  for (const mirror of mirrors) {
    if (mirror.registry !== registryKey(reference.registry)) continue;
    try {
      return await work({ reference: inMirror(mirror, reference), isMirror: true });
    } catch (error) {
      if (signal.aborted) throw error;
      log.warn('a mirror was skipped', {
        mirror: mirror.mirror,
        reference: formatReference(reference),
        error,
      });
    }
  }
  return work({ reference, isMirror: false });
}

function inMirror({ mirror, prefix }: RegistryMirror, reference: ImageReference): ImageReference {
  return {
    ...reference,
    registry: mirror,
    repository: prefix === '' ? reference.repository : `${prefix}/${reference.repository}`,
    loopback: isLoopbackRegistry(mirror),
  };
}
