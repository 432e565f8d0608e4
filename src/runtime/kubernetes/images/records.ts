/**
 * Records of the images that sandboxes are made from, each in a ConfigMap: a digest alone does not say where its image
 * is, and an image's configuration must be known when its registry is away. What this process has seen stays in memory; a
 * digest that it has not seen is looked for in the cluster, since another replica may have written it. Another may also have
 * removed one, so an image that is about to be used is confirmed.
 */
import { z } from 'zod';
import { imageRecord } from '../../images/registry/record.ts';
import type { Api } from '../client/api.ts';
import { isConflict, isMissing, isThere } from '../client/failure.ts';
import { type ConfigMap, inNamespace } from '../client/objects.ts';
import type { KubernetesSettings } from '../client/settings.ts';
import { instanceLabels } from '../machine/names.ts';

/** The configuration of an image, and the repository that has it. */
const placedRecord = imageRecord.extend({
  /** registry/repository */
  repository: z.string(),
  /** Complete names that stand for this image as long as the record is there. */
  names: z.array(z.string()),
});

export type PlacedRecord = z.infer<typeof placedRecord>;

export interface Records {
  /** Reads those of the instance. Called once, first. */
  init(): Promise<void>;
  all(): PlacedRecord[];
  get(digest: string): Promise<PlacedRecord | null>;
  named(name: string): PlacedRecord | null;
  /** Asks the API server itself, and forgets a record that is gone. */
  confirm(digest: string): Promise<PlacedRecord | null>;
  /** Adds the name to a record that is there, whoever has written it. */
  put(record: PlacedRecord): Promise<PlacedRecord>;
  remove(digest: string): Promise<void>;
}

const KIND = 'sandhaven.dev/kind';

export function createRecords(api: Api, { namespace, instanceId }: KubernetesSettings): Records {
  const known = new Map<string, PlacedRecord>();
  const pathOf = (name?: string) => inNamespace(namespace, 'configmaps', name);
  const nameOf = (digest: string) => `sandhaven-image-${instanceId}-${digest}`;
  const own = { ...instanceLabels(instanceId), [KIND]: 'image' };

  /** A record that somebody has spoiled is none: it is written anew when its image is used. */
  function keep({ data }: ConfigMap): PlacedRecord | null {
    try {
      const record = placedRecord.parse(JSON.parse(data?.['record'] ?? ''));
      known.set(record.digest, record);
      return record;
    } catch {
      return null;
    }
  }

  async function read(digest: string): Promise<ConfigMap | null> {
    try {
      return await api.get<ConfigMap>(pathOf(nameOf(digest)));
    } catch (error) {
      if (!isMissing(error)) throw error;
      known.delete(digest);
      return null;
    }
  }

  async function confirm(digest: string): Promise<PlacedRecord | null> {
    const map = await read(digest);
    return map && keep(map);
  }

  /** Returns false when another replica has written or removed it since it was read. */
  async function write(record: PlacedRecord, present: ConfigMap | null): Promise<boolean> {
    const name = nameOf(record.digest);
    const version = present ? { resourceVersion: present.metadata.resourceVersion } : {};
    const map = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace, labels: own, ...version },
      data: { record: JSON.stringify(record) },
    };
    try {
      if (present) await api.replace(pathOf(name), map);
      else await api.create(pathOf(), map);
      return true;
    } catch (error) {
      if (present ? isConflict(error) || isMissing(error) : isThere(error)) return false;
      throw error;
    }
  }

  return {
    async init() {
      const labelSelector = Object.entries(own)
        .map(([name, value]) => `${name}=${value}`)
        .join(',');
      const take = (page: ConfigMap[]) => {
        for (const one of page) keep(one);
      };
      await api.list<ConfigMap>(pathOf(), take, { query: { labelSelector } });
    },

    all: () => [...known.values()],
    confirm,
    get: async (digest) => known.get(digest) ?? confirm(digest),
    named: (name) => [...known.values()].find(({ names }) => names.includes(name)) ?? null,

    async put(record) {
      for (;;) {
        const map = await read(record.digest);
        const present = map && keep(map);
        const names = [...new Set([...(present?.names ?? []), ...record.names])];
        if (present && names.length === present.names.length) return present;
        const merged = present ? { ...present, names } : record;
        if (!(await write(merged, map))) continue;
        known.set(merged.digest, merged);
        return merged;
      }
    },

    async remove(digest) {
      known.delete(digest);
      try {
        await api.remove(pathOf(nameOf(digest)));
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
  };
}
