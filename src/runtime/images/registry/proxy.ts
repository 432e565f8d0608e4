/** Proxy variables of the service's environment, for skopeo, the one helper that uses the network. */

const names = ['http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'];

/** Returns the variables that are set, in both spellings. */
export function proxyVariables(env: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const given = names.flatMap((name) => [name, name.toUpperCase()]).map((name) => [name, env[name]] as const);
  return Object.fromEntries(given.filter((pair): pair is [string, string] => Boolean(pair[1])));
}
