/**
 * Registries of images: their names, a host with or without a port; mirrors that images are fetched from in place of a registry
 * (`--registry-mirror`); and the registries that are allowed at all (`--registry-allow`).
 */
import { invalidArgument } from './errors.ts';
import { limits } from './limits.ts';

export const DEFAULT_REGISTRY = 'docker.io';
/** Docker's former name of it, which it still accepts. */
const OLD_DEFAULT_REGISTRY = 'index.docker.io';

const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?';
const host = `(?:${label}(?:\\.${label})*|\\[[0-9a-fA-F:]{2,39}\\])`;
const pattern = new RegExp(`^(${host})(?::(\\d{1,5}))?$`);

/** Holds copies of a registry's images, each under its own name behind `prefix`. */
export interface RegistryMirror {
  /** Key from `registryKey`. */
  registry: string;
  mirror: string;
  /** Folders within the mirror, without slashes around; empty for none. */
  prefix: string;
}

/** A registry, or some of its repositories. */
export interface AllowedImages {
  /** Key from `registryKey`; `all` for every registry. */
  registry: string;
  /** A repository, or a common prefix with a slash at the end; empty for all. */
  repository: string;
}

export interface RegistryRules {
  /** Tried in this order, each for its registry. */
  mirrors: RegistryMirror[];
  /** null: images of every registry. */
  allowed: AllowedImages[] | null;
}

/** Default rules: each image comes from the registry that it names. */
export const everyRegistry: RegistryRules = { mirrors: [], allowed: null };

const repositoryPattern = /^[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$/;

/** Throws `invalid_argument` naming the flag. */
export function parseRegistryMirrors(flag: string, text: string): RegistryMirror[] {
  return entriesOf(flag, text).map((entry) => {
    const [registry = '', target = '', ...rest] = entry.split('=');
    const { name: mirror, path: prefix } = splitName(target);
    const named = isRegistryName(registry) && isRegistryName(mirror) && !target.endsWith('/');
    if (named && rest.length === 0 && (prefix === '' || repositoryPattern.test(prefix))) {
      return { registry: registryKey(registry), mirror, prefix };
    }
    throw invalidArgument(
      flag,
      `${flag} must be registry=mirror pairs with commas between, and '${entry}' was given.`,
      'For example docker.io=mirror.example:5000, or docker.io=mirror.example/proxy/hub.',
    );
  });
}

const ALL = 'all';

/** Parses the flag: `all` by itself is null, `none` the empty list. Throws `invalid_argument` naming the flag. */
export function parseAllowedImages(flag: string, text: string): AllowedImages[] | null {
  if (text.trim() === ALL) return null;
  if (text.trim() === 'none') return [];
  return entriesOf(flag, text).map((entry) => {
    if (entry === ALL) return { registry: ALL, repository: '' };
    const { name, path } = splitName(entry);
    const repository = path === '*' ? '' : path.replace(/\/\*$/, '/');
    const named = isRegistryName(name) && !entry.endsWith('/');
    if (named && (repository === '' || repositoryPattern.test(repository.replace(/\/$/, '')))) {
      return { registry: registryKey(name), repository };
    }
    throw invalidArgument(
      flag,
      `${flag} must be registries or repositories with commas between, and '${entry}' was given.`,
      'For example docker.io,registry.example:5000/team/*; all for every registry, also beside names, none for no other than the base image.',
    );
  });
}

/** Returns the text that `parseAllowedImages` parses to it. */
export function formatAllowedImages({ registry, repository }: AllowedImages): string {
  if (repository === '') return registry;
  return `${registry}/${repository}${repository.endsWith('/') ? '*' : ''}`;
}

export function formatMirror({ mirror, prefix }: RegistryMirror): string {
  return prefix === '' ? mirror : `${mirror}/${prefix}`;
}

export function isImageAllowed(
  { registry, repository }: { registry: string; repository: string },
  { allowed }: RegistryRules,
): boolean {
  if (allowed === null) return true;
  const key = registryKey(registry);
  return allowed.some((entry) => {
    if (entry.registry === ALL) return true;
    if (entry.registry !== key) return false;
    if (entry.repository === '' || entry.repository === repository) return true;
    return entry.repository.endsWith('/') && repository.startsWith(entry.repository);
  });
}

/** Returns true for a registry that the operator has named: it, and hosts that it sends to, may have any address. */
export function isNamedRegistry(registry: string, { allowed }: RegistryRules): boolean {
  const key = registryKey(registry);
  return (allowed ?? []).some((entry) => entry.registry === key);
}

function entriesOf(flag: string, text: string): string[] {
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  if (entries.length > limits.registries.rules) {
    throw invalidArgument(flag, `${flag} takes at most ${limits.registries.rules} entries.`);
  }
  return entries;
}

/** Splits at the first slash. */
function splitName(text: string): { name: string; path: string } {
  const slash = text.indexOf('/');
  if (slash < 0) return { name: text, path: '' };
  return { name: text.slice(0, slash), path: text.slice(slash + 1) };
}

/**
 * Returns true for a registry's name, by its grammar alone; looks nothing up. A name without a dot, a port or
 * `localhost` would be the first part of a repository.
 */
export function isRegistryName(text: string): boolean {
  const match = pattern.exec(text);
  const port = Number(match?.[2] ?? 443);
  return match !== null && port >= 1 && port <= 65_535 && (/[.:]/.test(text) || text === 'localhost');
}

/** Returns one text for all spellings of a registry: the key of rules and credentials. */
export function registryKey(name: string): string {
  const key = name.toLowerCase();
  return key === OLD_DEFAULT_REGISTRY ? DEFAULT_REGISTRY : key;
}

/** Returns true for the host's own registry, the only one that may speak HTTP without TLS. */
export function isLoopbackRegistry(name: string): boolean {
  const hostName = pattern.exec(name)?.[1] ?? '';
  return hostName === 'localhost' || hostName === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostName);
}
