/** The service over a store in memory, with a real provider. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { SignInProvider } from '../../../src/control/people/people.ts';
import { openIdentityProvider } from '../../../src/identity/openid.ts';
import { type IdentityTexts, parseIdentityOptions } from '../../../src/model/access/identity-options.ts';
import type { HttpServerDependencies } from '../../../src/surfaces/http/server.ts';
import { fakePeople } from '../../surfaces/fakes/fake-people.ts';
import { API_KEY, createFakeServices } from '../../surfaces/fakes/fake-services.ts';
import { type Harness, startHttp } from '../../surfaces/http/http-harness.ts';
import { pageOf, type Site } from './browser.ts';
import { CLIENT_ID, CLIENT_SECRET, startTeamProvider, type TeamProvider } from './team-provider.ts';

export interface World extends Site {
  team: TeamProvider;
  http: Harness;
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
  services.identityProviderSignIns?.servedAt(origin);
  services.signIns.servedAt(origin);
  await services.audit.open();
  onTestFinished(() => services.audit.close());
  await team.register(origin);
  const page = pageOf(origin);
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
