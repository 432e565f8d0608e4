/**
 * Unpacked images of this host, by content digest: the project's own from the cache, all others from registries.
 * A pulled name keeps its contents as long as the image is present.
 */
import { mkdir } from 'node:fs/promises';
import { SingleFlight } from '../../concurrency/single-flight.ts';
import type { CallOptions, Image, Images, Log, OnProgress, PullOptions } from '../../control/ports/index.ts';
import { FairQueue } from '../../fairness/fair-queue.ts';
import { canceled, SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { everyRegistry, isImageAllowed, type RegistryRules } from '../../model/registries.ts';
import { Blobs } from './blobs.ts';
import { BuiltInImage, builtInNames } from './built-in.ts';
import { ImageFolders } from './folders.ts';
import { Holds } from './holds.ts';
import { pullImage } from './pull.ts';
import { type Asker, resolve } from './registry/client.ts';
import { CredentialFiles, type RegistryAccess } from './registry/credential-files.ts';
import { notAllowed } from './registry/errors.ts';
import type { Gates } from './registry/gate.ts';
import type { Helpers } from './registry/helpers.ts';
import { type ImageRecord, toImage } from './registry/record.ts';
import { formatReference, type ImageReference, parseReference } from './registry/reference.ts';
import { fromFirst } from './registry/sources.ts';
import { defaultUnpackLimits, type UnpackLimits } from './unpack.ts';

export interface ImagesOptions {
  dataDir: string;
  /** Folder in which `make` puts the project's own images (`defaultCacheDir`). */
  cacheDir: string;
  helpers: Helpers;
  /** The way to registries that the operator has not named. */
  gates: Gates;
  /** Path of the built native/unpack. */
  unpackPath: string;
  /** Limits of an unpacked image; the service's own when absent. */
  bounds?: UnpackLimits;
  /** Allowed images and mirrors; `everyRegistry` when absent. */
  rules?: RegistryRules;
  /** Credentials; without them, every request to a registry is anonymous. */
  registries?: RegistryAccess;
  log: Log;
}

export interface LocalImages extends Images {
  /** Removes unfinished work of an earlier service. Called once, first, after that service's helpers were ended. */
  init(): Promise<void>;
  /** Path of the unpacked root file system of an image from `ensure`; root-owned, ids from 0, never to be changed. */
  rootfsPath(digest: string): string;
}

export function createImages(options: ImagesOptions): LocalImages {
  const { dataDir, cacheDir, helpers, gates, unpackPath, bounds = defaultUnpackLimits, log } = options;
  const rules = options.rules ?? everyRegistry;
  const credentials = new CredentialFiles(options.registries ?? null);
  const folders = new ImageFolders(dataDir, helpers);
  const blobs = new Blobs(dataDir);
  const builtIns = new Map<string, BuiltInImage>(
    builtInNames.map((name) => [name, new BuiltInImage(name, cacheDir, folders, helpers)]),
  );
  const holds = new Holds();
  const byName = new SingleFlight<ImageRecord, Parameters<OnProgress>[0]>(canceled);
  const byDigest = new SingleFlight<ImageRecord, Parameters<OnProgress>[0]>(canceled);
  const pulls = new FairQueue({ ...limits.shares.pulls, what: 'images are being pulled' });
  const parts = { folders, blobs, helpers, credentials, rules, gates, log, unpackPath, bounds };

  async function fetchNamed(
    reference: ImageReference,
    { owner, signal, onProgress }: Asker & Required<CallOptions>,
  ): Promise<ImageRecord> {
    const name = formatReference(reference);
    onProgress({ message: `Looking up ${name}` });
    const image = await fromFirst({ mirrors: rules.mirrors, log }, { reference, signal }, (source) =>
      resolve(parts, source, { owner, signal }),
    );
    const exact = { ...reference, tag: null, digest: `sha256:${image.digest}` };
    // Held from before it exists until its users have had a chance to hold it too.
    const letGo = holds.hold(image.digest);
    try {
      const record =
        (await folders.read(image.digest)) ??
        (await byDigest.run(image.digest, { signal, onProgress }, (shared) =>
          pullImage(parts, { image, reference: exact, name, owner, ...shared }),
        ));
      await folders.writeReference(name, record.digest);
      log.info('image pulled', { reference: name, digest: record.digest, sizeBytes: record.sizeBytes });
      return record;
    } finally {
      letGo();
    }
  }

  /** Callers share pulls but not turns: one that waits for its turn must not delay others that want the same image. */
  async function inTurn<T>(
    owner: string,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    const done = await pulls.take(owner, 1, signal).catch((error: unknown) => {
      throw signal?.aborted ? canceled() : error;
    });
    try {
      return await work();
    } finally {
      done();
    }
  }

  /** Refuses images outside the allow-list before any lookup, even if they were pulled already. */
  function parseAllowed(text: string): ImageReference {
    const reference = parseReference(text);
    if (!isImageAllowed(reference, rules)) throw notAllowed(reference, rules);
    return reference;
  }

  async function ensure(text: string, { owner = '', ...call }: PullOptions = {}): Promise<Image> {
    const builtIn = builtIns.get(text);
    if (builtIn) {
      const ready = await builtIn.ready();
      return toImage(ready ?? (await byName.run(text, call, ({ signal }) => builtIn.take(signal))), text);
    }
    const reference = parseAllowed(text);
    const name = formatReference(reference);
    const known = () => folders.readReference(name);
    const fetched = () => byName.run(name, call, (shared) => fetchNamed(reference, { owner, ...shared }));
    const record =
      (await known()) ?? (await inTurn(owner, call.signal, async () => (await known()) ?? fetched()));
    return toImage(record, name);
  }

  async function get(digest: string): Promise<Image | null> {
    const record = await folders.read(digest);
    return record && toImage(record, record.reference);
  }

  /** Removes unused images, and layers kept for later pulls. */
  async function collect({
    inUse,
    unusedSince,
    thoroughly = false,
  }: Parameters<Images['collect']>[0]): Promise<string[]> {
    const mark = holds.mark();
    const kept = await Promise.all([...builtIns.values()].map((image) => image.digests()));
    const used = new Set([...(await inUse()), ...kept.flat()]);
    const removed: string[] = [];
    const graves: string[] = [];
    for (const digest of await folders.list()) {
      if (used.has(digest) || !holds.free(digest, mark)) {
        await folders.touch(digest);
        continue;
      }
      if ((await folders.usedAt(digest)) > unusedSince) continue;
      // This check and the image's removal happen in one turn of the event loop.
      if (!holds.free(digest, mark)) continue;
      graves.push(folders.bury(digest));
      holds.forget(digest);
      removed.push(digest);
    }
    for (const grave of graves) await folders.discard(grave);
    if (removed.length > 0) {
      await folders.dropDeadReferences();
      log.info('unused images removed', { digests: removed });
    }
    await blobs.prune({
      maxBytes: thoroughly ? 0 : limits.image.blobBytes,
      usedBefore: Date.now() - limits.image.blobKeptMs,
    });
    return removed;
  }

  return {
    ensure,
    get,
    collect,

    check: (text) => (builtIns.has(text) ? text : formatReference(parseAllowed(text))),

    async use(wanted, work, call) {
      for (;;) {
        const image = 'digest' in wanted ? await get(wanted.digest) : await ensure(wanted.reference, call);
        if (!image) throw gone();
        const letGo = holds.hold(image.digest);
        try {
          // The image may have been collected before it was held.
          if (!(await folders.read(image.digest))) continue;
          return await work(image);
        } finally {
          letGo();
        }
      }
    },

    async init() {
      await folders.init();
      await blobs.init();
      await credentials.init();
      await mkdir(gates.folder, { recursive: true, mode: 0o700 });
    },

    rootfsPath: (digest) => folders.rootfs(digest),
  };
}

function gone(): SandhavenError {
  return new SandhavenError('unavailable', 'The image is no longer on this host.', {
    hint: 'Create the snapshot anew, under another name.',
    retryable: false,
  });
}
