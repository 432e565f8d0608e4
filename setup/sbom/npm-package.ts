/**
 * Writes the bill of materials of an npm package: the package, and what it needs when it runs, by
 * package-lock.json. It has no time and no random number, so the same sources give the same bytes.
 */
import { createHash } from 'node:crypto';
import { type Component, documentOf, type Lock, type Locked, ofNpm, textOf } from './document.ts';

export interface Manifest {
  name: string;
  version: string;
  description?: string;
  license?: string;
  dependencies?: Record<string, string>;
}

/** The references of a document lead to each component. */
type Referred = Component & { 'bom-ref': string };

/**
 * Returns the document as text. Throws when the lock lacks a package.
 *
 * @param tarball The packed package, which its own component has the hash of.
 */
export function sbomOf(manifest: Manifest, lock: Lock, tarball: Uint8Array): string {
  const own: Referred = {
    ...component('application', manifest.name, manifest),
    ...(manifest.description === undefined ? {} : { description: manifest.description }),
    hashes: [{ alg: 'SHA-256', content: createHash('sha256').update(tarball).digest('hex') }],
  };
  const { components, needs } = dependenciesOf(manifest, lock, own['bom-ref']);
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    ...documentOf({
      metadata: { component: own },
      components,
      dependencies: [...needs].map(([ref, dependsOn]) => ({ ref, dependsOn: [...dependsOn].toSorted() })),
    }),
  };
  return textOf({ ...document, serialNumber: serialNumber(document) });
}

function dependenciesOf(manifest: Manifest, lock: Lock, ownRef: string) {
  const components = new Map<string, Referred>();
  const needs = new Map<string, Set<string>>([[ownRef, new Set()]]);
  const queue: { folder: string; ref: string; wanted: Record<string, string>; optional: boolean }[] = [
    { folder: '', ref: ownRef, wanted: manifest.dependencies ?? {}, optional: false },
  ];
  for (const { folder, ref, wanted, optional } of queue) {
    for (const name of Object.keys(wanted)) {
      const found = locate(lock, folder, name);
      if (found === null && optional) continue;
      if (found === null) throw new Error(`package-lock.json has no ${name}, which ${ref} needs`);
      const locked = lock.packages[found] as Locked;
      const own = component('library', name, locked);
      needs.get(ref)?.add(own['bom-ref']);
      if (needs.has(own['bom-ref'])) continue;
      needs.set(own['bom-ref'], new Set());
      components.set(own['bom-ref'], own);
      const { dependencies = {}, optionalDependencies = {} } = locked;
      const next = { folder: found, ref: own['bom-ref'] };
      queue.push({ ...next, wanted: dependencies, optional: false });
      queue.push({ ...next, wanted: optionalDependencies, optional: true });
    }
  }
  const sorted = [...components].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
  return { components: sorted, needs };
}

/** Looks as Node does: in the folder of the package itself, then in those above. */
function locate({ packages }: Lock, folder: string, name: string): string | null {
  for (let from = folder; ; from = from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/')))) {
    const path = `${from === '' ? '' : `${from}/`}node_modules/${name}`;
    if (Object.hasOwn(packages, path)) return path;
    if (!from.includes('/node_modules/')) {
      const top = `node_modules/${name}`;
      return Object.hasOwn(packages, top) ? top : null;
    }
  }
}

function component(type: Component['type'], name: string, locked: Locked): Referred {
  const { version, purl, licenses, hashes } = ofNpm(name, locked);
  const [scope, bare] = name.startsWith('@') ? name.split('/') : [undefined, name];
  return {
    ...{ type, 'bom-ref': purl, name: bare ?? name, version, purl },
    ...(scope === undefined ? {} : { group: scope }),
    ...(licenses === undefined ? {} : { licenses }),
    ...(hashes === undefined ? {} : { hashes }),
  };
}

/** A UUID of the content, in the form of version 8. */
function serialNumber(document: object): string {
  const hex = createHash('sha256').update(JSON.stringify(document)).digest('hex');
  const groups = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return `urn:uuid:${groups.join('-')}`;
}
