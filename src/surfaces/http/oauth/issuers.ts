/**
 * Authorization servers of this service: one for each public origin, since a client accepts tokens only of the issuer that
 * it has found at the address it knows. Made when first wanted: a service that nobody authorizes by OAuth does not hold the
 * library in memory.
 */
import type { IncomingMessage } from 'node:http';
import type { Log } from '../../../control/ports/index.ts';
import type { Services } from '../../../control/services.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { networkOf } from '../../../model/network/address-network.ts';
import { NetworkRate } from '../sign-in/network-rate.ts';
import { createDocumentFetch } from './client-documents.ts';
import type { AuthorizationServer, ProviderDependencies } from './provider.ts';

export interface IssuerDependencies {
  services: Pick<Services, 'oauth'>;
  log: Log;
  /** Fetches documents of clients; by default from public addresses. */
  fetchDocument?: ProviderDependencies['fetch'];
}

export class Issuers {
  readonly #d: IssuerDependencies;
  readonly #servers = new Map<string, Promise<AuthorizationServer>>();
  readonly #addresses = new WeakMap<IncomingMessage, string>();
  readonly #documents = new NetworkRate(limits.oauth.documentRate, limits.oauth.networks);
  readonly #fetch: ProviderDependencies['fetch'];

  constructor(dependencies: IssuerDependencies) {
    this.#d = dependencies;
    this.#fetch = dependencies.fetchDocument ?? createDocumentFetch();
  }

  /** Returns the server of this origin. @param client Address of the request's sender. */
  async serverAt(
    origin: string | null,
    request: IncomingMessage,
    client: string,
  ): Promise<AuthorizationServer> {
    if (origin === null) throw unknownOrigin();
    this.#addresses.set(request, client);
    const { host, protocol } = new URL(origin);
    // The library takes both from here; what a client or a proxy has written was checked and is replaced.
    request.headers['x-forwarded-host'] = host;
    request.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    const known = this.#servers.get(origin);
    if (known) return known;
    if (this.#servers.size >= limits.oauth.issuers) throw unknownOrigin();
    const made = this.#make(origin);
    this.#servers.set(origin, made);
    made.catch(() => this.#servers.delete(origin));
    return made;
  }

  async #make(issuer: string): Promise<AuthorizationServer> {
    const { createProvider } = await import('./provider.ts');
    return createProvider({
      ...{ issuer, records: this.#d.services.oauth, log: this.#d.log, fetch: this.#fetch },
      networkOf: (request) => networkOf(this.#addresses.get(request) ?? ''),
      mayFetch: (network) => this.#documents.take(network) === 0,
    });
  }
}

export function unknownOrigin(): SandhavenError {
  return new SandhavenError('failed_precondition', 'Nobody is authorized by OAuth at this address.', {
    hint: 'Use the address of --public-url, or an API key; docs/mcp-authorization.md has the rules.',
  });
}
