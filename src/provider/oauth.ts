/** Tokens of users: by code, by device code, by refresh token. Errors come with a code word, and with status 200 at some providers. */
import { z } from 'zod';
import type { Clock, DeviceAnswer, DeviceCode } from '../control/ports/index.ts';
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ProviderOptions, ProviderTokens } from '../model/provider.ts';
import { readSecretFile } from '../outbound/secret-file.ts';
import { ask, notAsDocumented, type Reply } from './http.ts';

export interface OAuthClient {
  tokenUrl: string;
  deviceUrl: string;
  /** Fields of the exchange of a code, beside those that every provider takes. */
  codeForm: Record<string, string>;
  /** Words of its own in errors, with those of RFC 6749 and RFC 8628 that they mean. */
  ownWords: Record<string, string>;
  /** By the word of an error, what the operator has to do. */
  remedies: Record<string, string>;
  clientId: string;
  clientSecret: string;
  clock: Clock;
}

/** Rejects a secret that is unreadable or readable by others with `failed_precondition`. */
export function clientSecretOf({ name, clientSecret }: ProviderOptions): string {
  return 'value' in clientSecret
    ? clientSecret.value
    : readSecretFile(`--${name}-client-secret-file`, clientSecret.file);
}

type Granted = { tokens: ProviderTokens } | { refusal: string; word: string; intervalMs: number | null };

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** Printable, so that it can be part of a header. */
const token = z
  .string()
  .regex(/^[\x21-\x7e]+$/)
  .max(limits.provider.tokenChars);
const seconds = z.coerce
  .number()
  .int()
  .min(0)
  .max(10 * 365 * 86_400);

const tokenReply = z.object({
  access_token: token,
  token_type: z.string().regex(/^bearer$/i),
  scope: z.string().max(1_000).default(''),
  expires_in: seconds.optional(),
  refresh_token: token.optional(),
  refresh_token_expires_in: seconds.optional(),
});

const errorReply = z.object({
  error: z.string().regex(/^[a-z_]{1,60}$/),
  interval: seconds.optional(),
});

const deviceReply = z.object({
  device_code: token,
  user_code: z.string().regex(/^[A-Za-z0-9-]{4,32}$/),
  verification_uri: z.url({ protocol: /^https?$/ }).max(limits.git.urlChars),
  expires_in: seconds,
  interval: seconds.optional(),
});

export async function exchangeCode(
  client: OAuthClient,
  { code, verifier, redirectUri }: { code: string; verifier: string; redirectUri: string },
): Promise<ProviderTokens | null> {
  const form = { ...client.codeForm, code, code_verifier: verifier, redirect_uri: redirectUri };
  const granted = await askForTokens(client, form);
  if ('tokens' in granted) return granted.tokens;
  if (granted.refusal === 'invalid_grant') return null;
  throw refused(client, granted.word);
}

export async function refreshTokens(
  client: OAuthClient,
  refreshToken: string,
): Promise<ProviderTokens | null> {
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
  const granted = await askForTokens(client, form);
  if ('tokens' in granted) return granted.tokens;
  if (granted.refusal === 'invalid_grant') return null;
  throw refused(client, granted.word);
}

export async function startDevice(client: OAuthClient, scope: string | null): Promise<DeviceCode> {
  const url = client.deviceUrl;
  const form = { client_id: client.clientId, ...(scope === null ? {} : { scope }) };
  const reply = await ask({ method: 'POST', url, form });
  const failed = errorReply.safeParse(reply.body);
  if (failed.success) throw refused(client, failed.data.error);
  const made = deviceReply.safeParse(reply.body);
  if (!made.success || reply.status !== 200) throw notAsDocumented(url, reply);
  const { device_code, user_code, verification_uri, expires_in, interval } = made.data;
  const { default: usual } = limits.provider.deviceIntervalMs;
  return {
    deviceCode: device_code,
    userCode: user_code,
    verificationUrl: verification_uri,
    expiresInMs: expires_in * 1_000,
    intervalMs: interval === undefined ? usual : interval * 1_000,
  };
}

export async function pollDevice(client: OAuthClient, deviceCode: string): Promise<DeviceAnswer> {
  const granted = await askForTokens(client, { grant_type: DEVICE_GRANT, device_code: deviceCode });
  if ('tokens' in granted) return { status: 'granted', tokens: granted.tokens };
  const { refusal, word, intervalMs } = granted;
  switch (refusal) {
    case 'authorization_pending':
    case 'slow_down':
      return { status: 'pending', slowDown: refusal === 'slow_down', intervalMs };
    case 'access_denied':
      return { status: 'denied' };
    case 'expired_token':
      return { status: 'expired' };
    default:
      throw refused(client, word);
  }
}

async function askForTokens(client: OAuthClient, form: Record<string, string>): Promise<Granted> {
  const url = client.tokenUrl;
  const secrets = { client_id: client.clientId, client_secret: client.clientSecret };
  const asked = client.clock.now();
  const reply = await ask({ method: 'POST', url, form: { ...secrets, ...form } });
  const failed = errorReply.safeParse(reply.body);
  if (failed.success) {
    const { error, interval } = failed.data;
    const refusal = client.ownWords[error] ?? error;
    return { refusal, word: error, intervalMs: interval === undefined ? null : interval * 1_000 };
  }
  return { tokens: tokensOf(reply, url, asked) };
}

/** Counts times from the request, so that a token expires no earlier than assumed. */
function tokensOf(reply: Reply, url: string, asked: number): ProviderTokens {
  const parsed = tokenReply.safeParse(reply.body);
  if (!parsed.success || reply.status !== 200) throw notAsDocumented(url, reply);
  const { access_token, scope, expires_in, refresh_token, refresh_token_expires_in } = parsed.data;
  const after = (time: number | undefined) => (time === undefined ? null : asked + time * 1_000);
  return {
    accessToken: access_token,
    accessExpiresAt: after(expires_in),
    refreshToken: refresh_token ?? null,
    refreshExpiresAt: after(refresh_token_expires_in),
    scopes: scopesOf(scope),
  };
}

/** Parses a list with commas or spaces between; drops anything that is not the name of a scope. */
export function scopesOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((scope) => /^[a-z][a-z0-9_:-]{0,60}$/.test(scope));
}

/** Error of a wrong registration of the service at the provider, which only the operator can correct. */
function refused({ tokenUrl, remedies }: OAuthClient, word: string): SandhavenError {
  const { host } = new URL(tokenUrl);
  return new SandhavenError('failed_precondition', `${host} refuses the service (${word}).`, {
    hint: `The operator of the service has to ${remedies[word] ?? 'check how it is registered there'}.`,
  });
}
