/** Sources of an image: mirrors of its registry, in their order, then the registry itself. */
import type { Log } from '../../../control/ports/index.ts';
import { isLoopbackRegistry, registryKey } from '../../../model/registry-name.ts';
import type { RegistryMirror } from '../../../model/registry-rules.ts';
import { formatReference, type ImageReference } from './reference.ts';

export interface Source {
  reference: ImageReference;
  isMirror: boolean;
}

/**
 * The first that does the work; a mirror that fails in whatever way is passed over. What a digest names is the same
 * everywhere, and is checked wherever it comes from; what a tag means, a mirror is believed.
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
      log.warn('a mirror was passed over', {
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
