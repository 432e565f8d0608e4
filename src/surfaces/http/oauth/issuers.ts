/**
 * Authorization servers of this service: one for each public origin, since a client accepts tokens only of the issuer that
 * it has found at the address it knows. Made when first wanted: a service that nobody authorizes by OAuth does not hold the
 * library in memory.
 */
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { loadInTurns } from '../../../concurrency/in-portions.ts';
import type { Log } from '../../../control/ports/index.ts';
import type { Services } from '../../../control/services.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { networkOf } from '../../../model/network/arrival.ts';
import { originForPeople } from '../../../model/network/service-names.ts';
import { createExit, type Exit } from '../../../outbound/exit.ts';
import { NetworkRate } from '../sign-in/network-rate.ts';
import type {
  AuthorizationServer,
  AuthorizationServerDependencies,
  createAuthorizationServer,
} from './authorization-server.ts';
import { createDocumentFetch } from './client-documents.ts';

export interface IssuerDependencies {
  services: Pick<Services, 'oauth'>;
  log: Log;
  /** Shared with the other ways out of the service; one of its own by default. */
  exit?: Exit;
  /** Fetches documents of clients; by default from public addresses. */
  fetchDocument?: AuthorizationServerDependencies['fetch'];
}

export class Issuers {
  readonly #deps: IssuerDependencies;
  readonly #servers = new Map<string, Promise<AuthorizationServer>>();
  readonly #addresses = new WeakMap<IncomingMessage, string>();
  readonly #documents = new NetworkRate(limits.oauth.documentRate, limits.oauth.networks);
  readonly #fetch: AuthorizationServerDependencies['fetch'];

  constructor(dependencies: IssuerDependencies) {
    this.#deps = dependencies;
    this.#fetch =
      dependencies.fetchDocument ?? createDocumentFetch({ exit: dependencies.exit ?? createExit() });
  }

  /** Returns the server of an issuer; by default of the one at the address that the request was sent to. */
  async serverFor(
    request: FastifyRequest,
    issuer: string | null = request.publicOrigin,
  ): Promise<AuthorizationServer> {
    const { raw, publicOrigin, arrival } = request;
    if (issuer === null || publicOrigin === null) throw unknownOrigin();
    this.#addresses.set(raw, arrival.client);
    const { host, protocol } = new URL(publicOrigin);
    // The library takes both from here; what a client or a proxy has written was checked and is replaced.
    raw.headers['x-forwarded-host'] = host;
    raw.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    const known = this.#servers.get(issuer);
    if (known) return known;
    if (this.#servers.size >= limits.oauth.issuers) throw unknownOrigin();
    const made = this.#make(issuer);
    this.#servers.set(issuer, made);
    made.catch(() => this.#servers.delete(issuer));
    return made;
  }

  /** Returns the server of an authorization request under way. */
  async serverOf(request: FastifyRequest, uid: string): Promise<AuthorizationServer> {
    const found = await this.#deps.services.oauth.find('request', uid);
    const { params } = JSON.parse(found?.payload ?? '{}') as { params?: { resource?: unknown } };
    return this.serverFor(request, issuerNamed(String(params?.resource), request.publicOrigin) ?? undefined);
  }

  async #make(issuer: string): Promise<AuthorizationServer> {
    const createAuthorizationServer = await loadProvider();
    return createAuthorizationServer({
      ...{ issuer, records: this.#deps.services.oauth, log: this.#deps.log, fetch: this.#fetch },
      networkOf: (request) => networkOf(this.#addresses.get(request) ?? ''),
      mayFetch: (network) => this.#documents.take(network) === 0,
    });
  }
}

/**
 * Returns the issuer of a URL, as far as browsers of its clients come to this origin: to itself, and from loopback to the
 * name that the service has there for people.
 */
export function issuerNamed(url: string, arrived: string | null): string | null {
  const origin = URL.parse(url)?.origin;
  if (origin === undefined || !/^https?:/.test(origin) || arrived === null) return null;
  return origin === arrived || originForPeople(origin) === arrived ? origin : null;
}

export function unknownOrigin(): SandhavenError {
  return new SandhavenError('failed_precondition', 'This address takes no OAuth sign-ins.', {
    hint: 'Use the address of --public-url, or an API key; docs/mcp-authorization.md has the rules.',
  });
}

/** The packages that the library needs, and half of its own code. */
const PARTS = ['koa', 'jose', 'oidc-provider/lib/actions/index.js'];

export async function loadProvider(): Promise<typeof createAuthorizationServer> {
  await loadInTurns(import.meta.resolve('oidc-provider'), PARTS);
  await import('oidc-provider');
  await nextTurn();
  return (await import('./authorization-server.ts')).createAuthorizationServer;
}
