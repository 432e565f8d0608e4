/** View of an authorized application in actions. */
import { z } from 'zod';
import type { Grant } from '../../model/access/oauth/grant.ts';

export const appOutput = z.looseObject({
  app_id: z.string(),
  user_id: z.string(),
  client_id: z.string(),
  /** In the application's own words. */
  client_name: z.string().nullable(),
  /** Host that it is reached at. */
  redirect_host: z.string(),
  /** URL of MCP that it was authorized for. */
  resource: z.string(),
  scopes: z.array(z.string()),
  created_at: z.string(),
  /** Exact to the minute. */
  last_used_at: z.string(),
  /** End of it, unless it is used. */
  expires_at: z.string(),
});

export function toAppView(grant: Grant): z.output<typeof appOutput> {
  const { id, userId, clientId, clientName, redirectHost, resource, scopes } = grant;
  return {
    ...{ app_id: id, user_id: userId, client_id: clientId, client_name: clientName },
    ...{ redirect_host: redirectHost, resource, scopes: [...scopes] },
    created_at: new Date(grant.createdAt).toISOString(),
    last_used_at: new Date(grant.lastUsedAt).toISOString(),
    expires_at: new Date(grant.expiresAt).toISOString(),
  };
}
