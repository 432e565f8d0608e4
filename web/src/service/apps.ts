/** Applications that act over MCP: the decision about one that asks, and those that were authorized. */
import { ownClient } from './client.ts';
import { request } from './request.ts';

/** An application's request, as far as this user can grant it. */
export interface AppRequest {
  client: {
    client_id: string;
    /** In its own words. */
    name: string | null;
    redirect_host: string;
    /** Host of the document that describes it; null: it has registered itself. */
    described_at: string | null;
  };
  resource: string;
  scopes: string[];
}

export interface AuthorizedApp {
  app_id: string;
  client_name: string | null;
  redirect_host: string;
  scopes: string[];
  created_at: string;
  last_used_at: string;
  expires_at: string;
}

export function readAppRequest(uid: string): Promise<AppRequest> {
  return request('GET', `/authorize/${encodeURIComponent(uid)}/request`);
}

/** Returns the address to go on to. @param scopes null: denied. */
export async function decideAppRequest(uid: string, scopes: string[] | null): Promise<string> {
  const decision = scopes === null ? { allow: false } : { allow: true, scopes };
  const path = `/authorize/${encodeURIComponent(uid)}/decision`;
  return (await request<{ redirect_to: string }>('POST', path, decision)).redirect_to;
}

/** The newest hundred of this user. */
export async function listAuthorizedApps(user: string): Promise<AuthorizedApp[]> {
  const parameters = { user, page_size: 100 };
  const found = ownClient.administration.call<{ apps: AuthorizedApp[] }>('ListAuthorizedApps', parameters);
  return (await found).apps;
}

export async function revokeAuthorizedApp(id: string): Promise<void> {
  await ownClient.administration.call('RevokeAuthorizedApp', { app: id });
}
