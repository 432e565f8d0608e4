/** The service over a store in memory, with a real provider, and a browser in as few lines as will keep its cookies. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { SignInProvider } from '../../../src/control/people/people.ts';
import { openIdentityProvider } from '../../../src/identity/open.ts';
import { type IdentityTexts, parseIdentityOptions } from '../../../src/model/access/identity-options.ts';
import type { HttpServerDependencies } from '../../../src/surfaces/http/server.ts';
import { fakePeople } from '../../surfaces/fakes/fake-people.ts';
import { API_KEY, createFakeServices } from '../../surfaces/fakes/fake-services.ts';
import { type Harness, startHttp } from '../../surfaces/http/http-harness.ts';
import { CLIENT_ID, CLIENT_SECRET, startTeamProvider, type TeamProvider } from './team-provider.ts';

export interface World {
  team: TeamProvider;
  http: Harness;
  /** What the service's own page sends. */
  page: Record<string, string>;
  /** Lines of the provider's adapter. */
  warnings: string[];
  act(action: string, parameters: object): Promise<Response>;
}

/** @param host Name that browsers use for the service. */
export async function startWorld(
  more: Partial<IdentityTexts> = {},
  parts: Partial<HttpServerDependencies> = {},
  host = '127.0.0.1',
): Promise<World> {
  const team = await startTeamProvider();
  onTestFinished(() => team.close());
  const people = peopleAt(team.issuer, more);
  const services = { ...createFakeServices().services, ...people.services };
  const http = await startHttp({ services, ...parts });
  onTestFinished(() => http.close());
  const origin = `http://${host}:${http.port}`;
  services.providerSignIns?.servedAt(origin);
  services.signIns.servedAt(origin);
  await services.audit.open();
  onTestFinished(() => services.audit.close());
  await team.register(origin);
  const page = { origin, 'sec-fetch-site': 'same-origin', 'x-sandhaven-request': '1' };
  return {
    ...{ team, http: { ...http, url: origin }, page, warnings: people.warnings },
    act: (action, parameters) =>
      fetch(`${http.url}/v1/admin/${action}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(parameters),
      }),
  };
}

function peopleAt(issuer: string, more: Partial<IdentityTexts>) {
  const { provider, warnings } = providerAt(issuer, more);
  return { services: fakePeople({ signInProvider: provider }), warnings };
}

/** The provider as an operator configures it, with the secret in a file. */
export function providerAt(
  issuer: string,
  more: Partial<IdentityTexts> = {},
): { provider: SignInProvider; warnings: string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-oidc-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const clientSecretFile = join(folder, 'secret');
  writeFileSync(clientSecretFile, `${CLIENT_SECRET}\n`, { mode: 0o600 });
  const groups = { groupsClaim: 'groups', adminGroups: 'ops', memberGroups: 'dev,qa', emailDomains: '' };
  const scopes = 'openid,email,profile,groups';
  const texts = { issuer, clientId: CLIENT_ID, clientSecretFile, scopes, name: 'Team' };
  const options = parseIdentityOptions({ ...texts, ...groups, ...more });
  if (!options) throw new Error('the options give no provider');
  const warnings: string[] = [];
  const note = (message: string, context: object = {}) =>
    void warnings.push(message + JSON.stringify(context));
  const provider = openIdentityProvider(options, Date, { info: note, warn: note, error: note });
  return { provider: { provider, rules: options.rules, key: Buffer.alloc(32, 3) }, warnings };
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
  start({ http, page }: World, returnPath?: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.go(`${http.url}/v1/sign-in/provider`, {
      method: 'POST',
      headers: { ...page, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(returnPath === undefined ? {} : { return_path: returnPath }),
    });
  }

  /** Signs in at the provider; resolves with the URL that it sends the browser back with. */
  async toCallback(world: World, returnPath?: string): Promise<string> {
    const started = await this.start(world, returnPath);
    const { url } = (await started.json()) as { url: string };
    return this.follow(world, url);
  }

  /** Follows the provider's redirects until one leads to the service. */
  async follow(world: World, from: string): Promise<string> {
    let url = from;
    for (let steps = 0; steps < 10 && !url.startsWith(world.http.url); steps++) {
      const response = await this.go(url);
      const to = response.headers.get('location');
      if (to === null)
        throw new Error(`${new URL(url).pathname}: ${response.status} ${await response.text()}`);
      url = new URL(to, url).href;
    }
    return url;
  }

  /** The whole way. */
  async signIn(world: World, subject: string, returnPath?: string): Promise<Response> {
    world.team.next = subject;
    return this.go(await this.toCallback(world, returnPath));
  }

  who({ http, page }: World): Promise<Response> {
    return this.go(`${http.url}/v1/sign-in`, { headers: page });
  }
}
