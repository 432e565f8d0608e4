/** Properties that all clients have. They keep no secret; as native ones they may listen on any port of loopback. */

/** Source: RFC 8252, section 7.3. */
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
