/** Applications: the official MCP client with what an application has to keep, and one made by hand for attacks. */
import { createHash, randomBytes } from 'node:crypto';
import {
  Client,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';

type Held<Method extends 'tokens' | 'clientInformation' | 'discoveryState'> = Awaited<
  ReturnType<NonNullable<OAuthClientProvider[Method]>>
>;

interface AppOptions {
  scope: string;
  redirectUrl: string;
  name: string;
}

/** What an application keeps between the steps. */
export class Kept implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly scope: string | undefined;
  readonly name: string;
  /** Where it has sent the person. */
  sentTo: URL | null = null;
  held: Held<'tokens'>;
  #client: Held<'clientInformation'>;
  #discovery: Held<'discoveryState'>;
  #verifier = '';

  constructor({
    scope,
    redirectUrl = 'http://127.0.0.1:4567/callback',
    name = 'Test app',
  }: Partial<AppOptions> = {}) {
    this.scope = scope;
    this.redirectUrl = redirectUrl;
    this.name = name;
  }

  get clientMetadata(): OAuthClientMetadata {
    const scope = this.scope === undefined ? {} : { scope: this.scope };
    return { client_name: this.name, redirect_uris: [this.redirectUrl], ...scope };
  }

  state = () => 'state-of-app';
  clientInformation = () => this.#client;
  saveClientInformation = (client: Held<'clientInformation'>) => {
    this.#client = client;
  };
  tokens = () => this.held;
  saveTokens = (tokens: Held<'tokens'>) => {
    this.held = tokens;
  };
  redirectToAuthorization = (url: URL) => {
    this.sentTo = url;
  };
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier;
  };
  codeVerifier = () => this.#verifier;
  discoveryState = () => this.#discovery;
  saveDiscoveryState = (state: Held<'discoveryState'>) => {
    this.#discovery = state;
  };
  invalidateCredentials = (what: string) => {
    if (what === 'all' || what === 'tokens') this.held = undefined;
    if (what === 'all' || what === 'client') this.#client = undefined;
  };
}

/** Clients that were made; one that is left open goes on connecting. */
const clients: Client[] = [];

export async function closeClients(): Promise<void> {
  await Promise.all(clients.splice(0).map((client) => client.close()));
}

/** Connects the official client with nothing but the URL, and what was kept. */
export async function connect(origin: string, kept: Kept): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  clients.push(client);
  await client.connect(transportOf(origin, kept));
  return client;
}

export function transportOf(origin: string, kept: Kept): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { authProvider: kept });
}

/** An application made by hand. */
export class RawApp {
  readonly origin: string;
  readonly verifier = randomBytes(32).toString('base64url');
  clientId = '';
  redirectUri = 'https://app.example/callback';

  constructor(origin: string) {
    this.origin = origin;
  }

  async register(more: object = {}): Promise<Response> {
    const answer = await fetch(`${this.origin}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'Raw app', redirect_uris: [this.redirectUri], ...more }),
    });
    const { client_id: id } = (await answer.clone().json()) as { client_id?: string };
    if (id !== undefined) this.clientId = id;
    return answer;
  }

  async registered(): Promise<this> {
    await this.register();
    return this;
  }

  /** URL that the person is sent to; a parameter of undefined is left out. */
  url(more: Record<string, string | undefined> = {}): URL {
    const url = new URL('/oauth/authorize', this.origin);
    const challenge = createHash('sha256').update(this.verifier).digest('base64url');
    const parameters = {
      ...{ response_type: 'code', client_id: this.clientId, redirect_uri: this.redirectUri },
      ...{ code_challenge: challenge, code_challenge_method: 'S256', state: 'xyz' },
      ...{ scope: 'sandboxes:read', resource: `${this.origin}/mcp` },
      ...more,
    };
    for (const [name, value] of Object.entries(parameters))
      if (value !== undefined) url.searchParams.set(name, value);
    return url;
  }

  /** Fetches tokens for a code. */
  redeem(code: string | null, more: Record<string, string> = {}): Promise<Response> {
    return this.token({
      ...{ grant_type: 'authorization_code', code: code ?? '', redirect_uri: this.redirectUri },
      ...{ code_verifier: this.verifier, resource: `${this.origin}/mcp` },
      ...more,
    });
  }

  refresh(token: string, more: Record<string, string> = {}): Promise<Response> {
    return this.token({ grant_type: 'refresh_token', refresh_token: token, ...more });
  }

  token(parameters: Record<string, string>, path = '/oauth/token'): Promise<Response> {
    const body = new URLSearchParams({ client_id: this.clientId, ...parameters });
    return fetch(`${this.origin}${path}`, { method: 'POST', body });
  }
}

export interface Tokens {
  access_token: string;
  refresh_token: string;
  expires_in: number;
  scope: string;
}

export async function tokensIn(answer: Response): Promise<Tokens> {
  if (answer.status !== 200) throw new Error(`no tokens: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Tokens;
}

/** Calls a tool over MCP as plain HTTP. */
export function callTool(
  origin: string,
  token: string,
  name = 'Sandbox_WhoAmI',
  args: object = {},
  headers: Record<string, string> = {},
) {
  return fetch(`${origin}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  });
}
