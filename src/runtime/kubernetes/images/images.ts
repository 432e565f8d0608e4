/**
 * Images of a service on Kubernetes, by content digest. Nodes pull them; the service asks registries only for what a name
 * stands for and for an image's configuration. As on one machine, a name keeps its contents as long as its record is there.
 */
import { SingleFlight } from '../../../concurrency/single-flight.ts';
import type {
  CallOptions,
  Image,
  Images,
  Log,
  OnProgress,
  PullOptions,
} from '../../../control/ports/index.ts';
import { canceled, SandhavenError } from '../../../model/errors.ts';
import {
  isImageAllowed,
  isNamedRegistry,
  type RegistryRules,
  registryKey,
} from '../../../model/registries.ts';
import type { Exit } from '../../../outbound/exit.ts';
import { Holds } from '../../images/holds.ts';
import type { Asker } from '../../images/registry/client.ts';
import { notAllowed } from '../../images/registry/errors.ts';
import { type Credentials, createRegistryHttp } from '../../images/registry/http.ts';
import { parseConfig, unusable } from '../../images/registry/manifest.ts';
import { toImage } from '../../images/registry/record.ts';
import { formatReference, type ImageReference, parseReference } from '../../images/registry/reference.ts';
import { digestOf, resolveBy } from '../../images/registry/resolve.ts';
import { fromFirst, type Source } from '../../images/registry/sources.ts';
import type { Api } from '../client/api.ts';
import { fromApi } from '../client/failure.ts';
import type { KubernetesSettings, PlacedImage } from '../client/settings.ts';
import { createPullSecrets } from './pull-secrets.ts';
import { createRecords, type PlacedRecord } from './records.ts';

export interface KubernetesImagesOptions {
  api: Api;
  settings: KubernetesSettings;
  /** Reference of the standard base image. */
  baseImage: string;
  rules: RegistryRules;
  credentials: Credentials;
  exit: Exit;
  log: Log;
}

export interface KubernetesImages extends Images {
  /** Reads the records. Called once, first. */
  init(): Promise<void>;
  /** Returns where nodes get the image of this digest. Rejects with `unavailable` for one without a record. */
  place(digest: string): Promise<PlacedImage>;
  /** Returns the same of the agent's image. */
  placeAgent(): Promise<PlacedImage>;
}

const BASE = 'base';

export function createKubernetesImages(options: KubernetesImagesOptions): KubernetesImages {
  const { api, settings, rules, credentials, exit, log } = options;
  const base = parseReference(options.baseImage);
  const baseName = formatReference(base);
  const agentRegistry = parseReference(settings.agentImage).registry;
  const records = createRecords(api, settings);
  const secrets = createPullSecrets(api, settings, credentials);
  const isNamed = (registry: string) =>
    registry === registryKey(base.registry) || isNamedRegistry(registry, rules);
  const registries = createRegistryHttp({ credentials, isNamed, exit });
  const holds = new Holds();
  const lookups = new SingleFlight<PlacedRecord, Parameters<OnProgress>[0]>(canceled);
  /** Time of the last use that this process knows; its own start for all others. */
  const usedAt = new Map<string, number>();
  const begun = Date.now();

  async function look(
    reference: ImageReference,
    { owner, ...call }: Asker & Required<CallOptions>,
  ): Promise<PlacedRecord> {
    const name = formatReference(reference);
    call.onProgress({ message: `Looking up ${name}` });
    const { signal } = call;
    const sources = { mirrors: rules.mirrors, log };
    const { image, config } = await fromFirst(sources, { reference, signal }, async (source) => {
      const asker = { owner, signal };
      const manifest = (asked: Source) => registries.manifest(asked, asker);
      const image = await resolveBy(manifest, source, signal);
      const text = await registries.blob(source, image.config, asker);
      if (`sha256:${digestOf(text)}` !== image.config)
        throw unusable(name, 'its configuration does not match its digest');
      return { image, config: parseConfig(text, name).config };
    });
    const record = await records.put({
      ...config,
      digest: image.digest,
      reference: name,
      // Nodes alone know the unpacked size.
      sizeBytes: image.compressedBytes,
      madeAt: Date.now(),
      repository: `${reference.registry}/${reference.repository}`,
      names: [name],
    });
    log.info('image looked up', { reference: name, digest: record.digest });
    return record;
  }

  /** Refuses images outside the allow-list before any lookup; the base image is the operator's own choice. */
  function parseAllowed(text: string): ImageReference {
    if (text === BASE) return base;
    const reference = parseReference(text);
    if (!isImageAllowed(reference, rules)) throw notAllowed(reference, rules);
    return reference;
  }

  async function ensure(text: string, { owner = '', ...call }: PullOptions = {}): Promise<Image> {
    const reference = parseAllowed(text);
    const name = formatReference(reference);
    const record =
      records.named(name) ??
      (await lookups.run(name, call, (shared) => look(reference, { owner, ...shared })).catch(notLookedUp));
    usedAt.set(record.digest, Date.now());
    return toImage(record, text === BASE ? BASE : name);
  }

  async function get(digest: string): Promise<Image | null> {
    const record = await records.get(digest).catch(notLookedUp);
    return record && toImage(record, record.reference);
  }

  const confirmed = (digest: string) => records.confirm(digest).catch(notLookedUp);

  return {
    ensure,
    get,
    init: () => records.init(),

    check: (text) => (text === BASE ? BASE : formatReference(parseAllowed(text))),

    async use(wanted, work, call) {
      for (;;) {
        const image = 'digest' in wanted ? await get(wanted.digest) : await ensure(wanted.reference, call);
        if (!image) throw gone();
        const letGo = holds.hold(image.digest);
        try {
          // It may have been collected before it was held, by this process or by another replica.
          if (await confirmed(image.digest)) return await work(image);
        } finally {
          letGo();
        }
      }
    },

    async collect({ inUse, unusedSince }) {
      const mark = holds.mark();
      const used = new Set(await inUse());
      const removed: string[] = [];
      for (const { digest, names } of records.all()) {
        const isFree = holds.free(digest, mark) && !used.has(digest) && !names.includes(baseName);
        if (!isFree) usedAt.set(digest, Date.now());
        if (!isFree || (usedAt.get(digest) ?? begun) > unusedSince) continue;
        await records.remove(digest);
        holds.forget(digest);
        usedAt.delete(digest);
        removed.push(digest);
      }
      await secrets.prune();
      if (removed.length > 0) log.info('unused images removed', { digests: removed });
      return removed;
    },

    async placeAgent() {
      const needed = await secrets.ensure(agentRegistry);
      return { reference: settings.agentImage, pullSecrets: needed === null ? [] : [needed] };
    },

    async place(digest) {
      const record = await records.get(digest);
      if (!record) throw gone();
      const { registry } = parseReference(record.repository);
      const needed = await Promise.all([...new Set([registry, agentRegistry])].map(secrets.ensure));
      return {
        reference: `${record.repository}@sha256:${digest}`,
        pullSecrets: needed.filter((name) => name !== null),
      };
    },
  };
}

function notLookedUp(error: unknown): never {
  throw fromApi(error, 'The image could not be looked up.');
}

function gone(): SandhavenError {
  return new SandhavenError('unavailable', 'The service has no record of the image any more.', {
    hint: 'Create the snapshot anew, under another name.',
    retryable: false,
  });
}
