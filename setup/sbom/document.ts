/** Bills of materials in CycloneDX 1.6: the document, and its components as lock files describe them. */

export interface Component {
  type: 'library' | 'application';
  'bom-ref'?: string;
  name: string;
  version: string;
  purl: string;
  group?: string;
  description?: string;
  licenses?: { expression: string }[];
  hashes?: Hash[];
}

export interface Hash {
  alg: string;
  content: string;
}

/** Package of package-lock.json. */
export interface Locked {
  version?: string;
  license?: string;
  integrity?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

export interface Lock {
  /** By folder, such as `node_modules/a/node_modules/b`. */
  packages: Record<string, Locked>;
}

/** What a document adds to its form. */
export interface Contents {
  metadata: { timestamp?: string; component: Component };
  components: Component[];
  [field: string]: unknown;
}

export function documentOf<C extends Contents>(contents: C) {
  return { bomFormat: 'CycloneDX' as const, specVersion: '1.6' as const, version: 1, ...contents };
}

export function textOf(document: Contents): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

export function ofNpm(name: string, { version = '', license, integrity }: Locked): Component {
  return {
    type: 'library',
    name,
    version,
    // The @ of a scope is written as %40 in a package URL.
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
    ...(integrity === undefined ? {} : { hashes: hashesOf(integrity) }),
  };
}

/** @returns crates of a registry; those of the project have no source. */
export function ofCargo(lock: string): Component[] {
  return lock
    .split('[[package]]')
    .filter((part) => part.includes('\nsource = '))
    .map((part) => {
      const field = (name: string) => new RegExp(`^${name} = "([^"]+)"$`, 'm').exec(part)?.[1] ?? '';
      const [name, version] = [field('name'), field('version')];
      const hashes = [{ alg: 'SHA-256', content: field('checksum') }];
      return { type: 'library', name, version, purl: `pkg:cargo/${name}@${version}`, hashes };
    });
}

/** @param list In the form of pip's requirements, each package with its version and one hash. */
export function ofPython(list: string): Component[] {
  return [...list.matchAll(/^([a-z0-9-]+)==(\S+) \\\n +--hash=sha256:([0-9a-f]{64})$/gm)].map(
    ([, name = '', version = '', content = '']) => ({
      ...{ type: 'library', name, version, purl: `pkg:pypi/${name}@${version}` },
      hashes: [{ alg: 'SHA-256', content }],
    }),
  );
}

/** @param integrity As `sha512-…`, in Base64; several are separated by spaces. */
function hashesOf(integrity: string): Hash[] {
  return integrity.split(' ').flatMap((one) => {
    const [, bits, content = ''] = /^sha(1|256|384|512)-(.+)$/.exec(one) ?? [];
    return bits === undefined
      ? []
      : [{ alg: `SHA-${bits}`, content: Buffer.from(content, 'base64').toString('hex') }];
  });
}
