/** What the service is called: the names that it answers to, and what is told to those who start it. */
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type PreviewSite, previewOrigin } from './model/public-site.ts';
import { isDescribed, placeOf, type Region } from './model/region.ts';

interface Address {
  host: string;
  port: number;
}

const LOOPBACK = ['localhost', '127.0.0.1', '::1'];
const WILDCARDS = ['0.0.0.0', '::'];

export function allowedHosts({ host }: Pick<Address, 'host'>, publicUrl: string | null): string[] {
  const names = publicUrl === null ? LOOPBACK : [...LOOPBACK, bare(new URL(publicUrl).hostname)];
  if (!WILDCARDS.includes(host)) return [...names, host];
  const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return [...names, ...own.map(({ address }) => address)];
}

/** An address of this machine in place of all of them. */
export function reachable(host: string): string {
  return WILDCARDS.includes(host) ? '127.0.0.1' : host;
}

export function urlOf(protocol: PreviewSite['protocol'], { address, port, family }: AddressInfo): string {
  const host = reachable(address);
  return `${protocol}://${family === 'IPv6' && host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** For people, with a configuration for MCP clients. */
export function howTo(told: {
  url: string;
  site: PreviewSite;
  ssh: Address;
  /** null when the operator gave the key. */
  apiKeyFile: string | null;
  region: Region;
}): string {
  const { url, site, ssh, apiKeyFile, region } = told;
  const config = {
    mcpServers: {
      sandhaven: { type: 'http', url: `${url}/mcp`, headers: { Authorization: 'Bearer <API_KEY>' } },
    },
  };
  return [
    `API      ${url} (OpenAPI at ${url}/openapi.json)`,
    `Previews ${previewOrigin(site, '*')}`,
    `SSH      ${ssh.host}:${ssh.port} (bin/sandhaven ssh SANDBOX, or Sandbox.CreateSshAccess)`,
    `Region   ${whereIs(region)}`,
    `API key  ${apiKeyFile ? `in ${apiKeyFile}` : 'the one in SANDBOX_API_KEY'}`,
    'For an MCP client:',
    JSON.stringify(config, null, 2),
  ].join('\n');
}

function whereIs(region: Region): string {
  if (isDescribed(region)) return `${region.id} (${placeOf(region)})`;
  return `${region.id}; say where that is with --region id=${region.id},city=CITY,country=COUNTRY`;
}

function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
