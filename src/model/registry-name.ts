/** Names of registries, as they begin the names of images: a host, with or without a port. */

export const DEFAULT_REGISTRY = 'docker.io';
/** Docker's former name of it, which it still accepts. */
const OLD_DEFAULT_REGISTRY = 'index.docker.io';

const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?';
const host = `(?:${label}(?:\\.${label})*|\\[[0-9a-fA-F:]{2,39}\\])`;
const pattern = new RegExp(`^(${host})(?::(\\d{1,5}))?$`);

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
