/** Flags of listeners: addresses, public names, certificates, proxies before them. */
import { invalidArgument } from '../../model/errors.ts';
import { parseNetworks } from '../../model/network/arrival.ts';
import { parseDomain, parsePreviewUrl, parsePublicUrl } from '../../model/network/service-names.ts';
import { type FlagContext, flag } from './flag.ts';

export interface Address {
  host: string;
  port: number;
}

/** Address of a gateway. An unchosen one falls back to a free port when another service has it. */
export interface GatewayAddress extends Address {
  chosen: boolean;
}

export const listenerFlags = {
  /** Address of the API and of MCP. */
  listen: flag({
    name: 'listen',
    default: '127.0.0.1:7420',
    help: 'address of the API and of MCP',
    parse: parseAddress,
  }),
  /** Address of the preview gateway. */
  previewListen: flag({
    name: 'preview-listen',
    default: '127.0.0.1:7421',
    help: 'address of port previews',
    parse: parseGatewayAddress,
  }),
  /** Parent domain of the names of previews. */
  previewDomain: flag({
    name: 'preview-domain',
    default: 'localhost',
    help: 'parent domain of previews',
    parse: (text, { flag }) => parseDomain(flag, text),
  }),
  /** Public URL of previews, for a proxy before them or another name of the listener. */
  previewUrl: flag({
    name: 'preview-url',
    default: '',
    help: 'public URL of previews, such as https://*.previews.example.com',
    parse: (text, { flag }) => parsePreviewUrl(flag, text),
  }),
  /** Public origin of the API, for a proxy before it or another name of the listener. */
  publicUrl: flag({
    name: 'public-url',
    default: '',
    help: 'public URL of the API, such as https://sandhaven.example.com',
    parse: (text, { flag }) => parsePublicUrl(flag, text),
  }),
  /** Other products' APIs that the API's listener speaks too. */
  compat: flag({
    name: 'compat',
    default: 'none',
    help: "other products' APIs to serve for their clients: daytona, e2b, or none",
    parse: parseCompat,
  }),
  /** Proxies whose X-Forwarded headers are trusted. */
  trustedProxies: flag({
    name: 'trusted-proxy',
    default: 'none',
    help: 'addresses and networks of proxies whose X-Forwarded headers are trusted, or none',
    parse: (text, { flag }) => parseNetworks(flag, text),
  }),
  /** PEM file with the certificate of the API and of previews, and its chain. */
  tlsCert: flag({
    name: 'tls-cert',
    default: '',
    help: 'certificate with its chain, PEM, for the API and previews',
    parse: (text) => text,
  }),
  /** PEM file with the certificate's key. */
  tlsKey: flag({
    name: 'tls-key',
    default: '',
    help: "the certificate's key, PEM",
    parse: (text) => text,
  }),
  /** Address of the SSH gateway. */
  sshListen: flag({
    name: 'ssh-listen',
    default: '127.0.0.1:7422',
    help: 'address of the SSH gateway',
    parse: parseGatewayAddress,
  }),
  /** Public address of the SSH gateway, for a forwarded port or another name of the listener. */
  sshPublic: flag({
    name: 'ssh-public',
    default: '',
    help: 'public host:port of the SSH gateway',
    parse: (text, context) => (text === '' ? null : parsePublicAddress(text, context)),
  }),
};

const compatible = ['daytona', 'e2b'] as const;

export type Compatible = (typeof compatible)[number];

function parseCompat(text: string, { flag }: FlagContext): Compatible[] {
  if (text === 'none') return [];
  return text.split(',').map((name) => {
    const found = compatible.find((one) => one === name.trim());
    if (found) return found;
    throw invalidArgument(flag, `${flag} must be ${compatible.join(', ')} or none, and '${text}' was given.`);
  });
}

/** Parses an address that clients can connect to: with a port, and no wildcard. */
function parsePublicAddress(text: string, { flag }: FlagContext): Address {
  const address = parseAddress(text, { flag });
  if (address.port > 0 && !['0.0.0.0', '::'].includes(address.host)) return address;
  throw invalidArgument(
    flag,
    `${flag} must be an address that clients can connect to, and '${text}' was given.`,
    'For example sandhaven.example.com:22.',
  );
}

function parseAddress(text: string, { flag }: Pick<FlagContext, 'flag'>): Address {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  const host = match?.[1] ?? match?.[2];
  if (!host || port > 65_535) {
    throw invalidArgument(
      flag,
      `${flag} must be host:port, and '${text}' was given.`,
      'For example 127.0.0.1:7420.',
    );
  }
  return { host, port };
}

function parseGatewayAddress(text: string, context: FlagContext): GatewayAddress {
  return { ...parseAddress(text, context), chosen: context.chosen };
}
