/** A person's browser, as far as authorizing goes: cookies by path, redirects one by one, the page's own requests. */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { API_KEY } from '../../fakes/fake-services.ts';

interface Cookie {
  name: string;
  value: string;
  path: string;
}

export interface Asked {
  client: { client_id: string; name: string | null; redirect_host: string; described_at: string | null };
  resource: string;
  scopes: string[];
}

export class Person {
  readonly #origin: string;
  readonly #port: number;
  #cookies: Cookie[] = [];

  /** @param port That all requests go to, whatever their URL. */
  constructor(origin: string, port = Number(new URL(origin).port)) {
    this.#origin = origin;
    this.#port = port;
  }

  /** What the service's own page sends. */
  get page(): Record<string, string> {
    return { origin: this.#origin, 'sec-fetch-site': 'same-origin', 'x-sandhaven-request': '1' };
  }

  async signIn(apiKey = API_KEY): Promise<this> {
    const answer = await this.fetch('/v1/sign-in', { method: 'POST', body: { api_key: apiKey } });
    if (answer.status !== 200) throw new Error(`signing in: ${answer.status}`);
    return this;
  }

  /** A request of the page, or with `headers: {}` one that the person caused otherwise. Follows no redirect. */
  async fetch(
    path: string,
    { method = 'GET', body, headers = this.page }: { method?: string; body?: unknown; headers?: object } = {},
  ): Promise<Response> {
    const url = new URL(path, this.#origin);
    const cookie = this.#cookies
      .filter((one) => url.pathname === one.path || url.pathname.startsWith(one.path.replace(/\/?$/, '/')))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await send(url, this.#port, method, { cookie, ...type, ...headers }, body);
    for (const text of answer.headers.getSetCookie()) this.#keep(text);
    return answer;
  }

  /** Opens the application's request. Returns the path of the page where the decision is made. */
  async open(url: URL | string): Promise<string> {
    const answer = await this.fetch(String(url), { headers: {} });
    const to = answer.headers.get('location');
    if (answer.status !== 303 || !to?.startsWith('/authorize/'))
      throw new Error(`opening: ${answer.status} ${to} ${await answer.text()}`);
    return to;
  }

  async asked(path: string): Promise<Asked> {
    return (await (await this.fetch(`${path}/request`)).json()) as Asked;
  }

  decide(path: string, decision: object): Promise<Response> {
    return this.fetch(`${path}/decision`, { method: 'POST', body: decision });
  }

  /** Opens, decides, and goes on until the browser would leave for the application. Returns where to. */
  async authorize(url: URL | string, decision: object = { allow: true }): Promise<URL> {
    const decided = await this.decide(await this.open(url), decision);
    if (decided.status !== 200) throw new Error(`deciding: ${await decided.text()}`);
    const { redirect_to: next } = (await decided.json()) as { redirect_to: string };
    const answer = await this.fetch(next, { headers: {} });
    const to = answer.headers.get('location');
    if (answer.status !== 303 || to === null)
      throw new Error(`going on: ${answer.status} ${await answer.text()}`);
    return new URL(to);
  }

  #keep(text: string): void {
    const [pair = '', ...attributes] = text.split('; ');
    const at = pair.indexOf('=');
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    const path = /^path=(.*)$/i.exec(attributes.find((one) => /^path=/i.test(one)) ?? '')?.[1] ?? '/';
    this.#cookies = this.#cookies.filter((one) => one.name !== name || one.path !== path);
    if (value !== '') this.#cookies.push({ name, value, path });
  }
}

/** Sends to loopback whatever the name is, as browsers do with every name that ends with localhost. */
function send(url: URL, port: number, method: string, headers: object, body: unknown): Promise<Response> {
  return new Promise((resolve, reject) => {
    const { host, pathname, search } = url;
    const options = {
      host: '127.0.0.1',
      port,
      method,
      path: pathname + search,
      headers: { host, ...headers },
    };
    const sent = request(options, async (answer) => {
      const given = new Headers();
      for (const [name, values] of Object.entries(answer.headersDistinct))
        for (const value of values ?? []) given.append(name, value);
      resolve(new Response(await text(answer), { status: answer.statusCode ?? 0, headers: given }));
    });
    sent.once('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
