/** The operator's options for the identity provider. Its secret comes from a file alone. */
import { invalidArgument, type SandhavenError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { AdmissionRules } from './admission.ts';

export interface IdentityOptions {
  /** As the provider spells it. */
  issuer: string;
  clientId: string;
  clientSecretFile: string;
  /** With `openid` in it. */
  scopes: readonly string[];
  /** Claim with the groups of a person. */
  groupsClaim: string;
  rules: AdmissionRules;
  /** Name on the button. */
  name: string;
}

/** Texts of the flags; an empty one was not given. */
export interface IdentityTexts {
  issuer: string;
  clientId: string;
  clientSecretFile: string;
  scopes: string;
  groupsClaim: string;
  adminGroups: string;
  memberGroups: string;
  emailDomains: string;
  name: string;
}

/** Throws `invalid_argument` naming the flag. null: no identity provider. */
export function parseIdentityOptions(texts: IdentityTexts): IdentityOptions | null {
  const { clientId, clientSecretFile } = texts;
  const rules: AdmissionRules = {
    adminGroups: parseList('--oidc-admin-groups', texts.adminGroups, limits.identity.groupChars),
    memberGroups: parseList('--oidc-member-groups', texts.memberGroups, limits.identity.groupChars),
    emailDomains: parseDomains(texts.emailDomains),
  };
  if (texts.issuer === '') {
    const others = [clientId, clientSecretFile, texts.adminGroups, texts.memberGroups, texts.emailDomains];
    if (others.every((text) => text === '')) return null;
    throw missing(
      '--oidc-issuer',
      'It is the URL below which the provider has /.well-known/openid-configuration.',
    );
  }
  const issuer = parseIssuer(texts.issuer);
  if (clientId === '')
    throw missing('--oidc-client-id', 'The provider gives one when you register this service.');
  if (clientSecretFile === '')
    throw missing('--oidc-client-secret-file', 'Write the secret to a file of mode 0600, and name the file.');
  if (Object.values(rules).every((list) => list.length === 0)) throw open();
  return {
    ...{ issuer, clientId, clientSecretFile, rules },
    scopes: parseScopes(texts.scopes),
    groupsClaim: parseText('--oidc-groups-claim', texts.groupsClaim, limits.identity.groupChars),
    name: parseText('--oidc-name', texts.name, limits.identity.nameChars),
  };
}

/** Returns true where the provider is on this very machine, for trials: nobody is between. */
export function isOnThisMachine(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}

function parseIssuer(text: string): string {
  const url = text.length <= limits.identity.issuerChars ? URL.parse(text) : null;
  const isPlain = url && url.username === '' && url.password === '' && !/[?#\s]/.test(text);
  if (isPlain && (url.protocol === 'https:' || isOnThisMachine(text))) return text;
  throw invalidArgument(
    '--oidc-issuer',
    '--oidc-issuer must be an https URL without a query.',
    'Give the issuer as the provider shows it, such as https://login.example.com/realms/team.',
  );
}

function parseScopes(text: string): string[] {
  const scopes = text.split(/[\s,]+/).filter(Boolean);
  if (scopes.length <= 20 && scopes.every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(scope)))
    return [...new Set(['openid', ...scopes])];
  throw invalidArgument('--oidc-scopes', '--oidc-scopes must be names of scopes, with commas between them.');
}

function parseList(flag: string, text: string, chars: number): string[] {
  const items = text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);
  const isValid = items.every((item) => item.length <= chars && /^[^\p{C}]+$/u.test(item));
  if (items.length <= limits.identity.groupsInOption && isValid) return [...new Set(items)];
  throw invalidArgument(flag, `${flag} must be a list of names, with commas between them.`);
}

function parseDomains(text: string): string[] {
  const flag = '--oidc-email-domains';
  const domains = parseList(flag, text.toLowerCase(), 253);
  if (domains.every((domain) => /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(domain))) return domains;
  throw invalidArgument(flag, `${flag} must be domains such as example.com, with commas between them.`);
}

function parseText(flag: string, text: string, chars: number): string {
  if (text.length <= chars && /^[^\p{C}]+$/u.test(text)) return text;
  throw invalidArgument(flag, `${flag} must be a text of at most ${chars} characters.`);
}

function missing(flag: string, hint: string): SandhavenError {
  return invalidArgument(
    flag,
    `${flag} is missing: without it nobody signs in by the identity provider.`,
    hint,
  );
}

/** Everybody with an account at the provider would come in, which may be everybody. */
function open(): SandhavenError {
  return invalidArgument(
    '--oidc-member-groups',
    'Nothing limits who may sign in by the identity provider.',
    'Give --oidc-member-groups, --oidc-admin-groups or --oidc-email-domains.',
  );
}
