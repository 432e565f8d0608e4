/** A browser in as few lines as will keep its cookies, and go to a provider and back. */
import type { TeamProvider } from './team-provider.ts';

/** A service, and the provider that it asks. */
export interface Site {
  team: Pick<TeamProvider, 'next'>;
  /** Origin of the service's page. */
  http: { url: string };
  /** Headers that the service's own page sends. */
  page: Record<string, string>;
}

export function pageOf(origin: string): Record<string, string> {
  return { origin, 'sec-fetch-site': 'same-origin', 'x-sandhaven-request': '1' };
}

/** Keeps the cookies of every origin, and follows no redirect by itself. */
export class Browser {
  readonly jar = new Map<string, Map<string, string>>();

  async go(url: string, init: RequestInit = {}): Promise<Response> {
    const { origin } = new URL(url);
    const kept = this.jar.get(origin) ?? new Map<string, string>();
    this.jar.set(origin, kept);
    const cookie = [...kept].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(init.headers as Record<string, string>), ...(cookie ? { cookie } : {}) };
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) kept.delete(pair.slice(0, at));
      else kept.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return response;
  }

  /** Another browser with the same cookies. */
  copy(): Browser {
    const other = new Browser();
    for (const [origin, cookies] of this.jar) other.jar.set(origin, new Map(cookies));
    return other;
  }

  /** Presses the button. */
  start({ http, page }: Site, returnPath?: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.go(`${http.url}/v1/sign-in/provider`, {
      method: 'POST',
      headers: { ...page, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(returnPath === undefined ? {} : { return_path: returnPath }),
    });
  }

  /** Signs in at the provider; resolves with the URL that it sends the browser back with. */
  async toCallback(site: Site, returnPath?: string): Promise<string> {
    const started = await this.start(site, returnPath);
    const { url } = (await started.json()) as { url: string };
    return this.follow(site, url);
  }

  /** Follows the provider's redirects until one leads to the service. */
  async follow(site: Site, from: string): Promise<string> {
    let url = from;
    for (let steps = 0; steps < 10 && !url.startsWith(site.http.url); steps++) {
      const response = await this.go(url);
      const to = response.headers.get('location');
      if (to === null)
        throw new Error(`${new URL(url).pathname}: ${response.status} ${await response.text()}`);
      url = new URL(to, url).href;
    }
    return url;
  }

  /** The whole way. */
  async signIn(site: Site, subject: string, returnPath?: string): Promise<Response> {
    site.team.next = subject;
    return this.go(await this.toCallback(site, returnPath));
  }

  who({ http, page }: Site): Promise<Response> {
    return this.go(`${http.url}/v1/sign-in`, { headers: page });
  }
}
