/**
 * Documents by which MCP clients find the authorization server, from nothing but the URL of MCP.
 *
 * Source: RFC 9728, RFC 8414, and the authorization chapter of the MCP specification.
 */
import { toolScopes } from '../../../model/access/oauth.ts';
import { originForPeople } from '../../../model/network/service-names.ts';
import type { Scope } from '../../../model/scopes.ts';

export const oauthPaths = {
  authorize: '/oauth/authorize',
  /** For browsers that come by another name than their client. */
  authorizeFrom: '/oauth/authorize-from',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
  register: '/oauth/register',
} as const;

const RESOURCE_METADATA = '/.well-known/oauth-protected-resource';

/** Paths of the documents: of the service as a whole, and of MCP in it. */
export const metadataPaths = {
  resource: [RESOURCE_METADATA, `${RESOURCE_METADATA}/mcp`],
  server: '/.well-known/oauth-authorization-server',
} as const;

/** Returns the URL of MCP: tokens are good for it alone. */
export function resourceAt(origin: string): string {
  return `${origin}/mcp`;
}

export function resourceMetadata(origin: string) {
  return {
    resource: resourceAt(origin),
    authorization_servers: [origin],
    scopes_supported: toolScopes,
    bearer_methods_supported: ['header'],
    resource_name: 'Sandhaven',
  };
}

export function serverMetadata(origin: string) {
  return {
    issuer: origin,
    authorization_endpoint: authorizationEndpoint(origin),
    token_endpoint: `${origin}${oauthPaths.token}`,
    registration_endpoint: `${origin}${oauthPaths.register}`,
    revocation_endpoint: `${origin}${oauthPaths.revoke}`,
    scopes_supported: toolScopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  };
}

/**
 * Browsers do not sign in at the names of loopback that all servers of the machine share, so they are sent to the service's
 * own; the path says by which name their client knows it.
 */
function authorizationEndpoint(origin: string): string {
  const people = originForPeople(origin);
  if (people === origin) return `${origin}${oauthPaths.authorize}`;
  return `${people}${oauthPaths.authorizeFrom}/${encodeURIComponent(new URL(origin).hostname)}`;
}

/** Returns the header WWW-Authenticate: of a request without a token, with one that opens nothing, or with too little. */
export function challenge(
  origin: string,
  {
    error,
    needed = toolScopes,
  }: { error?: 'invalid_token' | 'insufficient_scope'; needed?: readonly Scope[] } = {},
): string {
  const fields = [
    ...(error === undefined ? [] : [`error="${error}"`]),
    `scope="${needed.join(' ')}"`,
    `resource_metadata="${origin}${RESOURCE_METADATA}/mcp"`,
  ];
  return `Bearer ${fields.join(', ')}`;
}

/**
 * Properties that all clients have. They keep no secret; as native ones they may listen on any port of loopback.
 * Source: RFC 8252, section 7.3.
 */
export const publicClient: {
  application_type: 'native';
  token_endpoint_auth_method: 'none';
  grant_types: string[];
  response_types: ['code'];
} = {
  application_type: 'native',
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
};
