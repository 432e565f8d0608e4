/** The proxies that the service was started with, for the one helper that speaks with the world. */

const names = ['http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'];

/** In both spellings, as they are given. */
export function proxyVariables(env: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const given = names.flatMap((name) => [name, name.toUpperCase()]).map((name) => [name, env[name]] as const);
  return Object.fromEntries(given.filter((pair): pair is [string, string] => Boolean(pair[1])));
}
