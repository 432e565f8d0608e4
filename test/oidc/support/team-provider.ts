/** A real OpenID provider in this process, on loopback. Whoever comes is signed in as the chosen person, without a form. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import Provider from 'oidc-provider';

export const CLIENT_ID = 'sandhaven';
export const CLIENT_SECRET = 'a secret of this client, which no answer may show';

export interface Person {
  name?: string;
  email?: string;
  email_verified?: boolean;
  groups?: string[];
}

export interface TeamProvider {
  issuer: string;
  /** By subject. */
  people: Map<string, Person>;
  /** Subject of whoever comes next; null: the provider refuses. */
  next: string | null;
  /** Replaces the answer of the token endpoint. */
  tamper: ((tokens: Record<string, unknown>) => Promise<void> | void) | null;
  /** Answers in place of the provider; false: it answers itself. */
  instead: ((request: IncomingMessage, response: ServerResponse) => boolean) | null;
  /** Paths that were asked for, without queries. */
  asked: string[];
  /** Signs claims with the provider's own key. */
  sign(claims: JWTPayload, header?: { typ?: string }): Promise<string>;
  /** Sends a logout token to the service, as at the end of a session. */
  endSession(subject: string, sid: string): Promise<void>;
  /** Registers the service by its origin. */
  register(origin: string): Promise<void>;
  close(): Promise<void>;
}

const KID = 'team';
const SCOPES = 'openid email profile groups';

/** Made once: it takes a while. */
let drawn: ReturnType<typeof generateKeyPair> | null = null;

/** @param another Has a key of its own. */
export async function startTeamProvider(another = false): Promise<TeamProvider> {
  if (another || drawn === null) drawn = generateKeyPair('RS256', { extractable: true });
  const { privateKey } = await drawn;
  const jwk = { ...(await exportJWK(privateKey)), kid: KID, alg: 'RS256', use: 'sig' };
  let handler: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) => {
    response.writeHead(503).end();
  };
  const server: Server = createServer((request, response) => {
    team.asked.push(request.url?.split('?')[0] ?? '');
    if (team.instead?.(request, response)) return;
    handler(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let provider: Provider;
  const team: TeamProvider = {
    ...{ issuer, people: new Map(), next: null, tamper: null, instead: null, asked: [] },
    sign: (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: KID, ...header }).sign(privateKey),
    async endSession(subject, sid) {
      const client = await provider.Client.find(CLIENT_ID);
      await (
        client as unknown as { backchannelLogout(sub: string, sid: string): Promise<void> }
      ).backchannelLogout(subject, sid);
    },
    async register(origin) {
      provider = create(team, origin, jwk);
      const answer = provider.callback();
      handler = (request, response) => {
        if (!request.url?.startsWith('/interaction/')) return void answer(request, response);
        const result =
          team.next === null
            ? { error: 'access_denied' }
            : { login: { accountId: team.next, remember: false } };
        void provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
      };
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return team;
}

function create(team: TeamProvider, origin: string, jwk: object): Provider {
  const provider = new Provider(team.issuer, {
    jwks: { keys: [jwk] },
    clients: [
      {
        ...{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, scope: SCOPES },
        ...{ response_types: ['code'], grant_types: ['authorization_code'] },
        redirect_uris: [`${origin}/v1/sign-in/provider/callback`],
        backchannel_logout_uri: `${origin}/v1/sign-in/provider/logout`,
        backchannel_logout_session_required: true,
      },
    ],
    scopes: SCOPES.split(' '),
    claims: {
      openid: ['sub', 'sid'],
      email: ['email', 'email_verified'],
      profile: ['name'],
      groups: ['groups'],
    },
    // As most providers: some claims are at the userinfo endpoint alone.
    conformIdTokenClaims: true,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    cookies: { keys: ['a key of this test'] },
    // Its own dispatcher refuses this machine.
    fetch: (url: string, { dispatcher: _, ...options }: RequestInit & { dispatcher?: unknown }) =>
      fetch(url, options),
    findAccount: (_context, subject) => ({
      accountId: subject,
      claims: async () => ({ sub: subject, ...team.people.get(subject) }),
    }),
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({ clientId: CLIENT_ID, accountId: String(oidc.session?.accountId) });
      grant.addOIDCScope(SCOPES);
      await grant.save();
      return grant;
    },
  } as ConstructorParameters<typeof Provider>[1]);
  provider.use(async (context, next) => {
    await next();
    const body: unknown = context.body;
    if (context.path === '/token' && context.status === 200)
      await team.tamper?.(body as Record<string, unknown>);
  });
  return provider;
}
