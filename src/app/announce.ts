/** What the service is called: the names that it answers to, and what it says to those who start it. */
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type PreviewSite, previewOrigin } from '../model/network/public-site.ts';
import { isDescribed, placeOf, type Region } from '../model/region.ts';

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

/**
 * Where callers find the SSH gateway: where the operator says; else at the API's public name, when the gateway listens
 * beyond this machine; else where it listens.
 */
export function sshAddress(gateway: {
  listening: Address;
  sshPublic: Address | null;
  publicUrl: string | null;
}): Address {
  const { listening, sshPublic, publicUrl } = gateway;
  if (sshPublic !== null) return sshPublic;
  if (publicUrl === null || isLoopback(listening.host))
    return { ...listening, host: reachable(listening.host) };
  return { host: bare(new URL(publicUrl).hostname), port: listening.port };
}

/** What of the service the world does not reach although the API has a public name; null when there is nothing. */
export function missingPublicNames(options: {
  publicUrl: string | null;
  previewUrl: PreviewSite | null;
  previewDomain: string;
  previewListen: Address;
  sshListen: Address;
  sshPublic: Address | null;
}): { found: string; advice: string } | null {
  const { publicUrl, previewUrl, previewDomain, previewListen, sshListen, sshPublic } = options;
  if (publicUrl === null) return null;
  const onlyHere = isLoopback(previewListen.host) || previewDomain === 'localhost';
  const missing = [
    ...(previewUrl === null && onlyHere
      ? [{ what: 'links of previews', flag: '--preview-url https://*.previews.example.com' }]
      : []),
    ...(sshPublic === null && isLoopback(sshListen.host)
      ? [{ what: 'SSH', flag: '--ssh-listen 0.0.0.0:7422 or --ssh-public HOST:PORT' }]
      : []),
  ];
  if (missing.length === 0) return null;
  return {
    found: `the API is public at ${publicUrl}, but only this machine reaches ${missing.map(({ what }) => what).join(' and ')}`,
    advice: `Give ${missing.map(({ flag }) => flag).join(', and ')}; see docs/reverse-proxy.md.`,
  };
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
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
