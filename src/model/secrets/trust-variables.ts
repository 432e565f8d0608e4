/** Variables by which programs find the certificates that they trust, for sandboxes that have secrets. */

/** Files that the agent writes: the usual certificates with the sandbox's own behind them, and that one alone. */
const BUNDLE = '/etc/sandhaven/ca-bundle.pem';
const AUTHORITY = '/etc/sandhaven/authority.pem';

/** The last two add to what their runtime trusts; all others replace it. */
export const trustVariables: Readonly<Record<string, string>> = {
  SSL_CERT_FILE: BUNDLE,
  REQUESTS_CA_BUNDLE: BUNDLE,
  CURL_CA_BUNDLE: BUNDLE,
  GIT_SSL_CAINFO: BUNDLE,
  PIP_CERT: BUNDLE,
  CARGO_HTTP_CAINFO: BUNDLE,
  AWS_CA_BUNDLE: BUNDLE,
  NPM_CONFIG_CAFILE: BUNDLE,
  NODE_EXTRA_CA_CERTS: AUTHORITY,
  DENO_CERT: AUTHORITY,
};
