/**
 * Names and labels of the objects of sandboxes. Pod and claim of a sandbox have one name each, whatever the generation: so
 * the API server itself refuses a second one.
 */
import type { KubeObject } from '../client/objects.ts';

export const labels = {
  managedBy: 'app.kubernetes.io/managed-by',
  instance: 'sandhaven.dev/instance',
  sandbox: 'sandhaven.dev/sandbox',
} as const;

/** On a Pod and a Secret: theirs. On a claim: the newest that has begun a start with it. */
export const GENERATION = 'sandhaven.dev/generation';

/** On a Pod: it carries the disk, and no program of the sandbox runs in it. */
export const CARRIER = 'sandhaven.dev/carrier';

/** On a claim: it is being made of an archive, and no disk yet. */
export const RESTORING = 'sandhaven.dev/restoring';

const MANAGER = 'sandhaven';

/** Ids have an underscore, which no name may have. */
export function objectName(id: string): string {
  return `sandbox-${id.replaceAll('_', '-')}`;
}

/** One for each generation: an older start that comes late replaces nothing. */
export function secretName(id: string, generation: number): string {
  return `${objectName(id)}-${generation}`;
}

/** Of the ConfigMap that tells of an archive. */
export function noteName(id: string): string {
  return `${objectName(id)}-archive`;
}

export function isCarrier({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[CARRIER] !== undefined;
}

export function isRestoring({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[RESTORING] !== undefined;
}

export function instanceLabels(instance: string): Record<string, string> {
  return { [labels.managedBy]: MANAGER, [labels.instance]: instance };
}

export function sandboxLabels(instance: string, id: string): Record<string, string> {
  return { ...instanceLabels(instance), [labels.sandbox]: id };
}

/** Selects all objects of sandboxes of the instance, or of one. */
export function selectorOf(instance: string, id?: string): string {
  const one = id === undefined ? labels.sandbox : `${labels.sandbox}=${id}`;
  return `${labels.managedBy}=${MANAGER},${labels.instance}=${instance},${one}`;
}

export function sandboxOf({ metadata }: KubeObject): string | null {
  return metadata.labels?.[labels.sandbox] ?? null;
}

/** Returns 0, which is older than all, for an object that names none. */
export function generationOf({ metadata }: KubeObject): number {
  const generation = Number(metadata.annotations?.[GENERATION]);
  return Number.isSafeInteger(generation) && generation > 0 ? generation : 0;
}
