/** Names of registries, as names of images begin with them: a host, with a port or without. */

export const DEFAULT_REGISTRY = 'docker.io';
/** What Docker once called it, and still takes for it. */
const OLD_DEFAULT_REGISTRY = 'index.docker.io';

const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?';
const host = `(?:${label}(?:\\.${label})*|\\[[0-9a-fA-F:]{2,39}\\])`;
const pattern = new RegExp(`^(${host})(?::(\\d{1,5}))?$`);

/**
 * Whether it is one, by its grammar alone; nothing is looked up. Without a dot, a port or `localhost` it would be taken
 * for the first part of a repository.
 */
export function isRegistryName(text: string): boolean {
  const match = pattern.exec(text);
  const port = Number(match?.[2] ?? 443);
  return match !== null && port >= 1 && port <= 65_535 && (/[.:]/.test(text) || text === 'localhost');
}

/** One text for all spellings of a registry: what rules and credentials are kept and compared by. */
export function registryKey(name: string): string {
  const key = name.toLowerCase();
  return key === OLD_DEFAULT_REGISTRY ? DEFAULT_REGISTRY : key;
}

/** The machine's own registry may speak HTTP without TLS; no other may. */
export function isLoopbackRegistry(name: string): boolean {
  const hostName = pattern.exec(name)?.[1] ?? '';
  return hostName === 'localhost' || hostName === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostName);
}
