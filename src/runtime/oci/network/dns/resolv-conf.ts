/** Resolvers that the host itself uses, as its resolv.conf names them. */
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';

const maxServers = 3;

/**
 * Returns the resolvers of the host at each call. Reads the file again when it has changed; checks it at most once a
 * second.
 * @param excluded Our own address, which must never be queried.
 */
export function resolvConf(path: string, excluded: string): () => string[] {
  let lookedAt = -Infinity;
  let version = '';
  let servers: string[] = [];
  return () => {
    if (performance.now() - lookedAt < 1_000) return [...servers];
    lookedAt = performance.now();
    try {
      const { mtimeMs, ino, size } = statSync(path);
      const seen = `${mtimeMs} ${ino} ${size}`;
      if (seen !== version) servers = parseResolvConf(readFileSync(path, 'utf8'));
      version = seen;
    } catch {
      // The file is being replaced: keep the known servers.
    }
    return servers.filter((server) => server !== excluded);
  };
}

/** Reads resolv.conf like the C library: the first three name servers, or this host without any. */
export function parseResolvConf(text: string): string[] {
  const servers = text.split('\n').flatMap((line) => {
    const [keyword, address = ''] = line.trim().split(/\s+/);
    return keyword === 'nameserver' && isIP(address.split('%')[0] ?? '') ? [address] : [];
  });
  return servers.length > 0 ? servers.slice(0, maxServers) : ['127.0.0.1'];
}
