/**
 * Notes of archives: a ConfigMap for each sandbox that may have one names the object. It is written before the upload and
 * removed after the object, so it may name an object that is not there, and never misses one.
 */
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import type { ArchiveLocation } from '../../../model/sandbox.ts';
import type { Api } from '../client/api.ts';
import { isConflict, isMissing, isThere } from '../client/failure.ts';
import { type ConfigMap, inNamespace } from '../client/objects.ts';
import type { KubernetesSettings } from '../client/settings.ts';
import type { Copies } from '../machine/copies.ts';
import { noteName, sandboxLabels } from '../machine/names.ts';

export interface Note {
  /** null for a note that somebody has emptied. */
  location: ArchiveLocation | null;
  /** Size of the claim whose content is archived; 0 where a note does not say it. */
  diskBytes: number;
}

export interface Notes {
  /** Asks the API server itself. Returns null without an archive. */
  read(id: string, signal?: AbortSignal): Promise<Note | null>;
  /** Replaces an older note. Resolves when the copy shows it. */
  write(id: string, location: ArchiveLocation, diskBytes: number): Promise<void>;
  /** Resolves when the copy shows it no more. @param only Leaves a note of another archive. */
  remove(id: string, only?: ArchiveLocation): Promise<void>;
}

interface Dependencies {
  api: Api;
  copies: Pick<Copies, 'notes'>;
  settings: KubernetesSettings;
}

export function createNotes({ api, copies, settings }: Dependencies): Notes {
  const { namespace, instanceId } = settings;
  const pathOf = (name?: string) => inNamespace(namespace, 'configmaps', name);
  const found = async (id: string, signal?: AbortSignal): Promise<ConfigMap | null> => {
    try {
      return await api.get<ConfigMap>(pathOf(noteName(id)), { signal });
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  };
  const wait = { timeoutMs: limits.kubernetes.requestMs, late: notShown };

  return {
    async read(id, signal) {
      const note = await found(id, signal);
      return note && { location: locationOf(note), diskBytes: Number(note.data?.['disk_bytes'] ?? 0) || 0 };
    },

    async write(id, location, diskBytes) {
      if (location.store !== 's3') throw new Error('an archive on this host needs no note');
      const name = noteName(id);
      const { bucket, key } = location;
      const note: ConfigMap = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace, labels: sandboxLabels(instanceId, id) },
        data: { bucket, key, disk_bytes: String(diskBytes) },
      };
      try {
        await api.create(pathOf(), note);
      } catch (error) {
        if (!isThere(error)) throw error;
        await api.replace(pathOf(name), note);
      }
      await copies.notes.until(name, (found) => (found ? true : undefined), wait);
    },

    async remove(id, only) {
      const note = await found(id);
      if (note === null || (only && !isSame(locationOf(note), only))) return;
      const { uid, resourceVersion } = note.metadata;
      try {
        await api.remove(pathOf(noteName(id)), { preconditions: { uid, resourceVersion } });
      } catch (error) {
        // Gone, or another one in its place.
        if (!isMissing(error) && !isConflict(error)) throw error;
      }
      const isGone = (shown: ConfigMap | undefined) => (shown?.metadata.uid === uid ? undefined : true);
      await copies.notes.until(noteName(id), isGone, wait);
    },
  };
}

function locationOf({ data }: ConfigMap): ArchiveLocation | null {
  const { bucket, key } = data ?? {};
  return bucket !== undefined && key !== undefined ? { store: 's3', bucket, key } : null;
}

function isSame(one: ArchiveLocation | null, other: ArchiveLocation): boolean {
  return one?.store === 's3' && other.store === 's3' && one.bucket === other.bucket && one.key === other.key;
}

function notShown(): SandhavenError {
  const hint = 'Try again later.';
  return new SandhavenError('unavailable', 'Kubernetes does not show its objects in time.', { hint });
}
