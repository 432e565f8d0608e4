/** The `Images` port over a host in memory. Its holds are the real ones. */
import type { Clock, Image, Images } from '../../../src/control/ports/index.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { Holds } from '../../../src/runtime/images/holds.ts';
import type { MemoryHost, StoredImage } from './memory-host.ts';

export interface MemoryImagesOptions {
  host: MemoryHost;
  clock: Clock;
  point(label: string): Promise<void>;
}

const BASE = 'base';
/** Of the registry; any other name is not found there. */
export const pullable = ['alpine:3', 'debian:13', 'node:24'] as const;

export function createMemoryImages({ host, clock, point }: MemoryImagesOptions): Images {
  const holds = new Holds();

  const ensure: Images['ensure'] = async (reference, options) => {
    const digest = digestOf(reference);
    if (!host.images.has(digest)) {
      await point('registry: pull');
      options?.signal?.throwIfAborted();
      if (reference !== BASE && !pullable.some((name) => name === reference)) throw notThere(reference);
      host.images.set(digest, { digest, reference, usedAt: clock.now() });
    }
    return imageOf({ digest, reference, usedAt: 0 });
  };
  const get: Images['get'] = async (digest) => {
    const stored = host.images.get(digest);
    return stored ? imageOf(stored) : null;
  };

  return {
    check: (reference) => reference,
    ensure,
    get,
    async use(wanted, work, options) {
      for (;;) {
        const image = 'digest' in wanted ? await get(wanted.digest) : await ensure(wanted.reference, options);
        if (!image) throw new SandhavenError('unavailable', 'The image is not on this machine any more.', {});
        const letGo = holds.hold(image.digest);
        try {
          await point('images: look');
          if (host.images.has(image.digest)) return await work(image);
        } finally {
          letGo();
        }
      }
    },
    async collect({ inUse, unusedSince }) {
      const mark = holds.mark();
      const used = await inUse();
      const gone: string[] = [];
      for (const { digest, reference, usedAt } of [...host.images.values()]) {
        await point('images: look at one');
        const kept = reference === BASE || used.has(digest) || !holds.free(digest, mark);
        if (kept) host.images.set(digest, { digest, reference, usedAt: clock.now() });
        else if (usedAt <= unusedSince) {
          host.images.delete(digest);
          holds.forget(digest);
          gone.push(digest);
        }
      }
      return gone;
    },
  };
}

export function digestOf(reference: string): string {
  return `digest of ${reference}`;
}

function imageOf({ digest, reference, usedAt }: StoredImage): Image {
  return { digest, reference, env: {}, entrypoint: [], workingDir: '', sizeBytes: 1, madeAt: usedAt };
}

function notThere(reference: string): SandhavenError {
  return new SandhavenError('not_found', `There is no image '${reference}'.`, { resource: 'image' });
}
