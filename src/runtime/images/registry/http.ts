/**
 * Reads manifests and configurations from registries over HTTP (OCI Distribution Specification 1.1), for a service that
 * fetches no layers: programs such as skopeo need not be there. Answers are bounded; whoever asks compares digests.
 */
import type { RegistryCredential } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { targetOf } from '../../../model/network/allowed-hosts.ts';
import { DEFAULT_REGISTRY, registryKey } from '../../../model/registries.ts';
import type { Exit } from '../../../outbound/exit.ts';
import { exchange, toAddresses, toOperators } from '../../../outbound/request.ts';
import type { Asker } from './client.ts';
import { exitError, registryAnswer } from './errors.ts';
import type { ImageReference } from './reference.ts';
import type { Source } from './sources.ts';

/** Returns the stored credential of this registry, by `registryKey`; null for none. */
export type Credentials = (registry: string) => Promise<RegistryCredential | null>;

export interface RegistryHttp {
  manifest(source: Source, asker: Asker): Promise<string>;
  /** @param digest `sha256:` and hex digits. */
  blob(source: Source, digest: string, asker: Asker): Promise<string>;
}

const MANIFESTS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

const REDIRECTS = 5;

export interface RegistryHttpDependencies {
  credentials: Credentials;
  /** Returns true for a registry, by `registryKey`, that the operator has named. */
  isNamed(registry: string): boolean;
  exit: Exit;
}

const bound = {
  bytes: limits.image.configBytes,
  tooLong: () => new Error('a document of a registry is too long'),
};

export function createRegistryHttp({ credentials, isNamed, exit }: RegistryHttpDependencies): RegistryHttp {
  async function read(
    source: Source,
    path: string,
    accept: string,
    { owner, signal }: Asker,
  ): Promise<string> {
    const { reference, isMirror } = source;
    const key = registryKey(reference.registry);
    const credential = await credentials(key);
    const named = isMirror || credential !== null || isNamed(key);
    const timeoutMs = isMirror ? limits.registries.mirrorTimeoutMs : limits.image.registryTimeoutMs;
    const either = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const url = `${baseOf(reference)}/v2/${reference.repository}/${path}`;
    try {
      const answer = await withLogin(url, {
        ...{ accept, credential, reference, owner, signal: either },
        exit: named ? null : exit,
      });
      if (!answer.ok) throw registryAnswer(answer.status, reference, credential !== null);
      return await answer.text();
    } catch (error) {
      if (error instanceof SandhavenError || signal.aborted) throw error;
      throw exitError(error, reference) ?? registryAnswer(null, reference, credential !== null, error);
    }
  }

  return {
    manifest: (source, asker) =>
      read(source, `manifests/${source.reference.digest ?? source.reference.tag}`, MANIFESTS, asker),
    blob: (source, digest, asker) => read(source, `blobs/${digest}`, '*/*', asker),
  };
}

interface Asked extends Asker {
  accept: string;
  credential: RegistryCredential | null;
  reference: ImageReference;
  /** null for a registry that the operator has named, and for the hosts that it sends to. */
  exit: Exit | null;
}

/** Asks anonymously; where the registry wants a token, or a password, asks again with that. */
async function withLogin(url: string, asked: Asked): Promise<Response> {
  const first = await follow(url, asked, null);
  if (first.status !== 401) return first;
  const authorization = await loginOf(first.headers.get('www-authenticate') ?? '', asked);
  return authorization === null ? first : follow(url, asked, authorization);
}

/** The authorization goes to the registry itself, and to no host that it redirects to. */
async function follow(url: string, asked: Asked, authorization: string | null): Promise<Response> {
  const { accept, reference } = asked;
  const { origin } = new URL(url);
  let next = url;
  for (let hops = 0; ; hops++) {
    const own = new URL(next).origin === origin;
    const headers = { accept, ...(authorization !== null && own ? { authorization } : {}) };
    const answer = await ask(new URL(next), headers, asked);
    const location = answer.headers.get('location');
    if (answer.status < 300 || answer.status >= 400 || location === null) return answer;
    next = new URL(location, next).href;
    if (hops === REDIRECTS || !(next.startsWith('https:') || reference.loopback))
      throw new Error('a registry redirects too often, or to a server without TLS');
  }
}

/** Returns the value of the header for the challenge (RFC 9110, 11.6.1); null when there is no answer to it. */
async function loginOf(challenge: string, asked: Asked): Promise<string | null> {
  const { credential, reference } = asked;
  const basic =
    credential && `Basic ${Buffer.from(`${credential.username}:${credential.password}`).toString('base64')}`;
  if (/^basic\b/i.test(challenge)) return basic;
  if (!/^bearer\b/i.test(challenge)) return null;
  const fields = new Map([...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
  const realm = fields.get('realm');
  if (realm === undefined) return null;
  const url = new URL(realm);
  if (url.protocol !== 'https:' && !reference.loopback) return null;
  for (const name of ['service', 'scope']) {
    const value = fields.get(name);
    if (value !== undefined) url.searchParams.set(name, value);
  }
  const headers = { accept: 'application/json', ...(basic ? { authorization: basic } : {}) };
  const answer = await ask(url, headers, asked);
  if (!answer.ok) return null;
  const { token, access_token } = JSON.parse(await answer.text()) as Record<string, unknown>;
  const given = token ?? access_token;
  return typeof given === 'string' ? `Bearer ${given}` : null;
}

/** The exit decides about a registry that nobody but a member has named, and about each host that it sends to. */
async function ask(
  url: URL,
  headers: Record<string, string>,
  { exit, owner, signal }: Asked,
): Promise<Response> {
  const errand = { allowed: [], owner, signal };
  const way = exit ? toAddresses(await exit.addresses(targetOf(url), errand)) : toOperators;
  return exchange(url, { way, headers, signal }, bound);
}

function baseOf({ registry, loopback }: ImageReference): string {
  if (registryKey(registry) === DEFAULT_REGISTRY) return 'https://registry-1.docker.io';
  return `${loopback ? 'http' : 'https'}://${registry}`;
}
