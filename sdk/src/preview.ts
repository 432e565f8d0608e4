/** Requests to a port of a sandbox, by its preview. */
import { SandhavenError } from './errors.ts';
import type { GetPortPreviewUrlResult } from './generated.ts';
import { fetchAt } from './node-fetch.ts';

/** One port of a sandbox. Its address is asked for once, at the first request. */
export class Preview {
  readonly #find: () => Promise<GetPortPreviewUrlResult>;
  readonly #service: string;
  #found: Promise<GetPortPreviewUrlResult> | null = null;

  /** @param service Address of the API. */
  constructor(find: () => Promise<GetPortPreviewUrlResult>, service: string) {
    this.#find = find;
    this.#service = service;
  }

  /**
   * Fetches what a program serves there. Redirects are answers, since following one could take the token of the preview
   * elsewhere. Network failures are those of `fetch`.
   * @param path With its query, such as `/items?page=2`.
   */
  async fetch(path = '/', init: RequestInit = {}): Promise<Response> {
    this.#found ??= this.#find();
    const { url, token, header } = await this.#found.catch((error: unknown) => {
      this.#found = null;
      throw error;
    });
    const site = new URL(url);
    const target = new URL(path, site);
    if (target.origin !== site.origin) throw elsewhere();
    const headers = new Headers(init.headers);
    if (token !== null && header !== null) headers.set(header, token);
    const request = new Request(target, { ...init, headers, redirect: 'manual' });
    const address = addressOf(target, this.#service);
    return (address === null ? null : fetchAt(address, request)) ?? fetch(request);
  }
}

/**
 * Returns the host to connect to in place of a name below localhost, which only browsers and curl resolve; null for a name of
 * DNS. It is that of the service, which has a listener of previews beside the API's.
 */
function addressOf({ protocol, hostname }: URL, service: string): string | null {
  if (protocol !== 'http:' || !hostname.endsWith('.localhost')) return null;
  const own = URL.canParse(service) ? new URL(service).hostname : '';
  return own === '' || /(?:^|\.)localhost$/.test(own) ? '127.0.0.1' : own.replace(/^\[(.*)\]$/, '$1');
}

function elsewhere(): SandhavenError {
  return new SandhavenError({
    code: 'invalid_argument',
    status: 0,
    detail: 'The path leads to another site than that of the preview.',
    hint: 'Give a path that begins with one slash, such as /items?page=2.',
    parameter: 'path',
    retryable: false,
  });
}
