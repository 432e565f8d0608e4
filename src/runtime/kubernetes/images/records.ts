/**
 * Records of the images that sandboxes are made from, each in a ConfigMap: a digest alone does not say where its image
 * is, and an image's configuration must be known when its registry is away. What this process has seen stays in memory; a
 * digest that it has not seen is looked for in the cluster, since another replica may have written it.
 */
import type { Api } from '../client/api.ts';
import { isConflict, isMissing } from '../client/failure.ts';
import type { ConfigMap } from '../client/objects.ts';
import { inNamespace } from '../client/paths.ts';
import { instanceLabels } from '../machine/names.ts';
import type { KubernetesSettings } from '../settings.ts';
import { type PlacedRecord, placedRecord } from './record.ts';

export interface Records {
  /** Reads those of the instance. Called once, first. */
  init(): Promise<void>;
  all(): PlacedRecord[];
  get(digest: string): Promise<PlacedRecord | null>;
  named(name: string): PlacedRecord | null;
  /** Adds the name to a record that is there. */
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

  async function get(digest: string): Promise<PlacedRecord | null> {
    const record = known.get(digest);
    if (record) return record;
    try {
      return keep(await api.get<ConfigMap>(pathOf(nameOf(digest))));
    } catch (error) {
      if (isMissing(error)) return null;
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
    get,
    named: (name) => [...known.values()].find(({ names }) => names.includes(name)) ?? null,

    async put(record) {
      const present = await get(record.digest);
      const names = [...new Set([...(present?.names ?? []), ...record.names])];
      if (present && names.length === present.names.length) return present;
      const merged = present ? { ...present, names } : record;
      const map = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: nameOf(record.digest), namespace, labels: own },
        data: { record: JSON.stringify(merged) },
      };
      try {
        await api.create(pathOf(), map);
      } catch (error) {
        if (!isConflict(error)) throw error;
        await api.replace(pathOf(map.metadata.name), map);
      }
      known.set(merged.digest, merged);
      return merged;
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
