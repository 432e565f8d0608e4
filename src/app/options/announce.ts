/** Public names of the service: accepted host names, addresses of gateways, and the operator's message at start. */
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import {
  keepsSignIn,
  LOCAL_NAME,
  originForPeople,
  type PreviewSite,
  previewOrigin,
} from '../../model/network/service-names.ts';
import { isDescribed, placeOf, type Region } from '../../model/region.ts';
import type { Address } from './listeners.ts';

const LOOPBACK = ['localhost', LOCAL_NAME, '127.0.0.1', '::1'];
const WILDCARDS = ['0.0.0.0', '::'];

export function allowedHosts({ host }: Pick<Address, 'host'>, publicUrl: string | null): string[] {
  const names = publicUrl === null ? LOOPBACK : [...LOOPBACK, bare(new URL(publicUrl).hostname)];
  if (!WILDCARDS.includes(host)) return [...names, host];
  const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return [...names, ...own.map(({ address }) => address)];
}

/** Replaces the wildcard address with one of this machine. */
export function reachable(host: string): string {
  return WILDCARDS.includes(host) ? '127.0.0.1' : host;
}

/**
 * Returns the SSH gateway's address for callers: the operator's choice; else the API's public name, when the gateway
 * listens beyond this machine; else its own address.
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

/** Names the gateways that only this machine reaches although the API is public; null when there are none. */
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

/** Message to the operator, with a configuration for MCP clients. */
export function howTo(options: {
  url: string;
  /** One-time link; null when somebody is signed in. */
  signInUrl: string | null;
  site: PreviewSite;
  ssh: Address;
  /** null when the operator gave the key. */
  apiKeyFile: string | null;
  region: Region;
}): string {
  const { url, signInUrl, site, ssh, apiKeyFile, region } = options;
  const config = {
    mcpServers: {
      sandhaven: { type: 'http', url: `${url}/mcp`, headers: { Authorization: 'Bearer <API_KEY>' } },
    },
  };
  return [
    `Page     ${pageLine(url, signInUrl)}`,
    `API      ${url} (OpenAPI at ${url}/openapi.json)`,
    `Previews ${previewOrigin(site, '*')}`,
    `SSH      ${ssh.host}:${ssh.port} (bin/sandhaven ssh SANDBOX, or Sandbox.CreateSshAccess)`,
    `Region   ${whereIs(region)}`,
    `API key  ${apiKeyFile ? `in ${apiKeyFile}` : 'the one in SANDBOX_API_KEY'}`,
    'For an MCP client:',
    JSON.stringify(config, null, 2),
  ].join('\n');
}

function pageLine(url: string, signInUrl: string | null): string {
  if (!keepsSignIn(url)) return `${url}, for which browsers need TLS: docs/reverse-proxy.md`;
  return signInUrl ? `${signInUrl} (signs in once, within 15 minutes)` : originForPeople(url);
}

function whereIs(region: Region): string {
  if (isDescribed(region)) return `${region.id} (${placeOf(region)})`;
  return `${region.id}; set its place with --region id=${region.id},city=CITY,country=COUNTRY`;
}

function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
