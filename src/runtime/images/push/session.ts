/**
 * Requests to one repository of a registry, with the credentials that it asks for: HTTP's Basic, or a token of the
 * registry's token service (https://distribution.github.io/distribution/spec/auth/token/). Credentials go to the
 * registry and to the token service that it names over the same protocol, and to nobody else.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { canceled, SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { DEFAULT_REGISTRY, registryKey } from '../../../model/registries.ts';
import { type Answer, exchange, type Outgoing } from './exchange.ts';

/** At a registry. */
export interface Account {
  username: string;
  password: string;
}

export interface SessionOptions {
  /** host or host:port */
  registry: string;
  repository: string;
  credential: Account | null;
  /** HTTP without TLS, for a registry of tests. */
  plainHttp: boolean;
  signal: AbortSignal;
}

type Request = Omit<Outgoing, 'url' | 'signal'>;

const tokenSchema = z.object({ token: z.string().optional(), access_token: z.string().optional() });

/** Host that answers for Docker's registry. */
const DOCKER_API = 'registry-1.docker.io';

export class RegistrySession {
  readonly #options: SessionOptions;
  readonly #origin: string;
  #authorization: string | null = null;

  constructor(options: SessionOptions) {
    this.#options = options;
    const { registry, plainHttp } = options;
    const host = registryKey(registry) === DEFAULT_REGISTRY ? DOCKER_API : registry;
    this.#origin = `${plainHttp ? 'http' : 'https'}://${host}`;
  }

  /** Resolves a path below the repository, or an address that the registry sent. */
  address(path: string): URL {
    return new URL(
      path.startsWith('./') ? `/v2/${this.#options.repository}/${path.slice(2)}` : path,
      this.#origin,
    );
  }

  /**
   * Repeats a request whose connection broke or that met a server's error, and once after a request for credentials.
   * Returns answers of any other status.
   */
  async request(url: URL, request: Request): Promise<Answer> {
    const { signal } = this.#options;
    for (let attempt = 1; ; attempt++) {
      const last = attempt >= limits.image.attempts;
      try {
        const answer = await this.#withCredentials(url, request);
        if (last || answer.status < 500) return answer;
      } catch (error) {
        if (signal.aborted) throw canceled();
        if (error instanceof SandhavenError) throw error;
        if (last || !isPassing(error)) throw this.#unreachable(error);
      }
      await sleep(limits.image.retryDelayMs * 2 ** (attempt - 1), undefined, { signal }).catch(() => {
        throw canceled();
      });
    }
  }

  async #withCredentials(url: URL, request: Request): Promise<Answer> {
    const first = await this.#send(url, request);
    if (first.status !== 401 || url.origin !== this.#origin) return first;
    this.#authorization = await this.#answerTo(String(first.headers['www-authenticate'] ?? ''));
    return this.#authorization === null ? first : this.#send(url, request);
  }

  #send(url: URL, request: Request): Promise<Answer> {
    const { plainHttp, signal } = this.#options;
    if (url.protocol !== 'https:' && !plainHttp) {
      throw new SandhavenError(
        'unavailable',
        `The registry ${this.#options.registry} leads to an address without TLS.`,
      );
    }
    const own = url.origin === this.#origin && this.#authorization !== null;
    const headers = { ...request.headers, ...(own ? { authorization: this.#authorization ?? '' } : {}) };
    return exchange({ ...request, headers, url, signal });
  }

  /** Returns the header that answers a challenge; null when there is nothing to answer with. */
  async #answerTo(challenge: string): Promise<string | null> {
    const { credential } = this.#options;
    const basic = credential && `Basic ${encode(credential)}`;
    if (/^basic\b/i.test(challenge)) return basic;
    const parameters = parametersOf(challenge);
    const realm = parameters['realm'] === undefined ? null : URL.parse(parameters['realm']);
    if (!/^bearer\b/i.test(challenge) || !realm) return null;
    realm.searchParams.set('service', parameters['service'] ?? '');
    realm.searchParams.set('scope', `repository:${this.#options.repository}:pull,push`);
    if (realm.protocol !== new URL(this.#origin).protocol && realm.protocol !== 'https:') return null;
    const headers: Record<string, string> = basic ? { authorization: basic } : {};
    const answer = await exchange({ method: 'GET', url: realm, headers, signal: this.#options.signal });
    if (answer.status !== 200) return null;
    const parsed = tokenSchema.safeParse(parseJson(answer.body));
    const token = parsed.data?.token ?? parsed.data?.access_token;
    return token === undefined ? null : `Bearer ${token}`;
  }

  #unreachable(error: unknown): SandhavenError {
    const { registry, plainHttp } = this.#options;
    const reason = error instanceof Error ? error.message : String(error);
    const hint = plainHttp
      ? 'Check its name.'
      : 'Check its name; --plain-http is for a registry without TLS.';
    return new SandhavenError(
      'unavailable',
      `The registry ${registry} cannot be reached: ${reason}.`,
      { hint },
      error,
    );
  }
}

function encode({ username, password }: Account): string {
  return Buffer.from(`${username}:${password}`).toString('base64');
}

function parametersOf(challenge: string): Record<string, string> {
  return Object.fromEntries(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name.toLowerCase(),
      value,
    ]),
  );
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return null;
  }
}

/** Broken connections pass; unknown names, refused connections and certificates do not. */
function isPassing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const message = error instanceof Error ? error.message : '';
  return /^(ECONNRESET|EPIPE|ETIMEDOUT|EAI_AGAIN)$/.test(code) || /timed out|socket hang up/.test(message);
}
