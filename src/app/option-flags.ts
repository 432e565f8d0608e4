/** The flags of `sandhaven up`, with what holds where one is not given, and its help. */
import { defaultGpuKind } from '../model/gpu-kind.ts';
import { limits } from '../model/limits.ts';
import { providerFlags } from '../model/provider-options.ts';

interface Flag {
  default: string;
  help: string;
}

export const flags = {
  listen: { default: '127.0.0.1:7420', help: 'address of the API and of MCP' },
  'preview-listen': {
    default: '127.0.0.1:7421',
    help: 'address of port previews',
  },
  'preview-domain': { default: 'localhost', help: 'domain of previews' },
  'preview-url': {
    default: '',
    help: 'previews as the world sees them, such as https://*.previews.example.com',
  },
  'public-url': { default: '', help: 'the API as the world sees it, such as https://sandhaven.example.com' },
  'trusted-proxy': {
    default: 'none',
    help: 'addresses and networks of proxies whose X-Forwarded headers are believed, or none',
  },
  'tls-cert': { default: '', help: 'certificate with its chain, PEM, for the API and previews' },
  'tls-key': { default: '', help: "the certificate's key, PEM" },
  'ssh-listen': { default: '127.0.0.1:7422', help: 'address of the SSH gateway' },
  'ssh-public': { default: '', help: 'host:port of the SSH gateway as the world sees it' },
  'data-dir': { default: '/var/lib/sandhaven', help: 'where everything is kept' },
  'warm-pool': { default: '4', help: 'sandboxes made ahead of time, 0 for none' },
  'image-kept-minutes': {
    default: String(limits.image.keptMinutes),
    help: 'how long an image stays that nothing uses',
  },
  'audit-kept-days': {
    default: String(limits.audit.keptDays.default),
    help: 'how long the audit log is kept, 0 for good',
  },
  runtime: { default: 'oci', help: 'the engine: oci' },
  region: {
    default: '',
    help: 'where this is: id=…,name=…,city=…,country=…; after a semicolon, others to list',
  },
  toolsets: { default: 'all', help: 'groups of tools that MCP clients see, such as files,git' },
  'gpu-kind': {
    default: defaultGpuKind.kind,
    help: 'CDI kind of the GPUs that sandboxes get, vendor/class or vendor/class=name,name',
  },
  'git-allow': {
    default: '127.0.0.0/8,::1/128',
    help: 'hosts, host:port and networks that Git remotes with credentials may be on besides public ones, or none',
  },
  'registry-mirror': {
    default: '',
    help: 'registries and where their images are tried first, such as docker.io=mirror.example:5000',
  },
  'registry-allow': {
    default: 'all',
    help: 'registries and repositories that images may come from, such as docker.io,registry.example/team/*, or none',
  },
  ...providerFlags,
  'disk-overcommit': {
    default: String(limits.disk.overcommit.default),
    help: 'GB that all disks of sandboxes together may grow to, for each GB that is free',
  },
  'quota-sandboxes': { default: 'auto', help: 'sandboxes of each user, in whatever state' },
  'quota-cpu': { default: 'auto', help: "vCPUs of each user's running sandboxes" },
  'quota-memory-gb': { default: 'auto', help: "GB of memory of each user's running sandboxes" },
  'quota-disk-gb': { default: 'auto', help: "GB of disk of each user's sandboxes, in whatever state" },
  'quota-snapshots': {
    default: 'auto',
    help: 'snapshots of each user; auto: members have a part of the machine, admins all of it',
  },
  rate: { default: 'none', help: 'calls of each key a second, such as 50, or 50/200 for up to 200 at once' },
} satisfies Record<string, Flag>;

export type FlagName = keyof typeof flags;

export const upHelp = `Usage: sandhaven up [flags]

Runs the service in the foreground. Each flag is also an environment variable:
--data-dir is SANDHAVEN_DATA_DIR. SANDBOX_API_KEY, when set, is the first user's key;
DOCUMENTDB_CONNECTION_STRING the database of the DocumentDb tools ("sandhaven demo-db" runs one to try).

${Object.entries(flags)
  .map(
    ([name, { default: value, help }]) =>
      `  --${`${name} …`.padEnd(20)} ${help}${value ? ` (${value})` : ''}`,
  )
  .join('\n')}
  --prove              first create a sandbox, run code in it and delete it
`;

/** What comes by environment because it is secret; taken out of it once it is read, so that no child inherits it. */
export const secretVariables = [
  'SANDBOX_API_KEY',
  'DOCUMENTDB_CONNECTION_STRING',
  'SANDHAVEN_GITHUB_CLIENT_SECRET',
];

export function environmentName(flag: FlagName): string {
  return `SANDHAVEN_${flag.toUpperCase().replaceAll('-', '_')}`;
}
