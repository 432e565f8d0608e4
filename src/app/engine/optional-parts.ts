/** Parts loaded only when the operator configures them, so that other services do not hold their code in memory. */
import type { Tracer } from '../../concurrency/span.ts';
import type { SignInProvider } from '../../control/people/people.ts';
import type { Clock, CodeHost, DocumentDatabase, Log } from '../../control/ports/index.ts';
import { version } from '../../home.ts';
import type { IdentityOptions } from '../../model/access/identity-options.ts';
import type { ArchiveOptions } from '../../model/archive-options.ts';
import type { ProviderName, ProviderOptions } from '../../model/provider.ts';
import type { TracingOptions } from '../../model/tracing-options.ts';
import type { RemotePlace } from '../../runtime/archives/places.ts';
import type { Secrets } from '../../store/files/secrets.ts';
import { isLoopback } from '../options/announce.ts';

const adapters = {
  github: () => import('../../provider/github.ts'),
  gitlab: () => import('../../provider/gitlab.ts'),
} satisfies Record<ProviderName, unknown>;

export async function openCodeHost(options: ProviderOptions | null, clock: Clock): Promise<CodeHost | null> {
  if (options === null) return null;
  const { open } = await adapters[options.name]();
  return open(options, clock);
}

export async function openSignInProvider(
  options: IdentityOptions | null,
  secrets: Pick<Secrets, 'deriveKey'>,
  clock: Clock,
  log: Log,
): Promise<SignInProvider | null> {
  if (options === null) return null;
  const { openIdentityProvider } = await import('../../identity/openid.ts');
  const provider = openIdentityProvider(options, clock, log);
  return { provider, rules: options.rules, key: secrets.deriveKey('sign-in by the identity provider') };
}

export async function openDocuments(connectionString: string | null): Promise<DocumentDatabase | null> {
  if (connectionString === null) return null;
  const { createDocumentDatabase } = await import('../../documentdb/database.ts');
  return createDocumentDatabase({ connectionString });
}

/**
 * Rejects with `failed_precondition` when the bucket for new archives cannot be used.
 * @param ownFolder The service's own part of the bucket.
 */
export async function openRemoteArchives(
  { s3, folder }: Pick<ArchiveOptions, 's3' | 'folder'>,
  ownFolder: string,
  log: Pick<Log, 'warn'>,
): Promise<RemotePlace | null> {
  if (s3 === null) return null;
  if (isInTheClear(s3.endpoint))
    log.warn('archives go over the network unencrypted: the S3 endpoint has no TLS');
  const { openS3 } = await import('../../runtime/archives/s3/open.ts');
  return openS3({ s3, folder }, ownFolder);
}

/** Proves the store as a start would, and describes it. Rejects with `failed_precondition`. */
export async function proveArchiveStore({ s3, folder, encrypted }: ArchiveOptions): Promise<string> {
  const suffix = encrypted ? ', encrypted' : '';
  if (s3 === null) return `this host${suffix}`;
  const { openS3 } = await import('../../runtime/archives/s3/open.ts');
  const { place } = await openS3({ s3, folder }, 'doctor');
  place.close();
  if (folder === null) return `this host${suffix}; older archives from ${s3.endpoint}`;
  return `s3://${[folder.bucket, folder.prefix].filter(Boolean).join('/')} at ${s3.endpoint}${suffix}`;
}

interface OpenTracing {
  tracer: Tracer;
  close(): Promise<void>;
}

export async function openTracing(options: TracingOptions | null, log: Log): Promise<OpenTracing | null> {
  if (options === null) return null;
  if (isInTheClear(options.url))
    log.warn('traces go over the network unencrypted: the address of the collector has no TLS');
  const { openTraces } = await import('../../tracing/open.ts');
  return openTraces(options, { version, log });
}

/** Returns true for the URL of another machine without TLS. */
function isInTheClear(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isLoopback(hostname.replace(/^\[(.*)\]$/, '$1'));
}
