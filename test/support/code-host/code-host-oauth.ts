/** The provider's OAuth endpoints: authorize, access_token for codes, device codes and refresh tokens, device/code. */
import { createHash, randomBytes } from 'node:crypto';
import { type Answer, type CodeHostState, clientId, clientSecret, type Question } from './code-host.ts';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const DEVICE_SECONDS = 900;
const REFRESH_SECONDS = 15_897_600;

/** null: not one of these endpoints. */
export function oauthAnswer(state: CodeHostState, question: Question): Answer | null {
  const { method, path } = question;
  if (method === 'GET' && path === '/login/oauth/authorize') return authorize(state, question);
  if (method === 'POST' && path === '/login/oauth/access_token') return accessToken(state, question.form);
  if (method === 'POST' && path === '/login/device/code') return deviceCode(state, question.form);
  return null;
}

function authorize(state: CodeHostState, { query, headers }: Question): Answer {
  const redirectUri = query.get('redirect_uri') ?? '';
  const sound =
    query.get('client_id') === clientId &&
    query.get('code_challenge_method') === 'S256' &&
    (query.get('state') ?? '').length >= 20 &&
    /^http:\/\/127\.0\.0\.1:\d+\/auth\/github\/callback$/.test(redirectUri);
  if (!sound) return { status: 404, body: 'no such client, or no sound request' };
  const back = new URL(redirectUri);
  back.searchParams.set('state', query.get('state') ?? '');
  if (headers['x-allow'] === 'false') back.searchParams.set('error', 'access_denied');
  else {
    const code = secret(state, 'code');
    const challenge = query.get('code_challenge') ?? '';
    const login = String(headers['x-person']);
    state.codes.set(code, { login, scopes: granted(state, query.get('scope')), challenge, redirectUri });
    back.searchParams.set('code', code);
  }
  return { status: 302, headers: { location: back.href } };
}

function accessToken(state: CodeHostState, form: URLSearchParams): Answer {
  if (form.get('client_id') !== clientId || form.get('client_secret') !== clientSecret) {
    return failure('incorrect_client_credentials');
  }
  switch (form.get('grant_type')) {
    case DEVICE_GRANT:
      return byDevice(state, form.get('device_code') ?? '');
    case 'refresh_token':
      return byRefreshToken(state, form.get('refresh_token') ?? '');
    default:
      return byCode(state, form);
  }
}

function byCode(state: CodeHostState, form: URLSearchParams): Answer {
  state.asked.push('exchange');
  const code = form.get('code') ?? '';
  const known = state.codes.get(code);
  state.codes.delete(code);
  const challenge = createHash('sha256')
    .update(form.get('code_verifier') ?? '')
    .digest('base64url');
  if (!known || known.challenge !== challenge) return failure('bad_verification_code');
  if (known.redirectUri !== form.get('redirect_uri')) return failure('redirect_uri_mismatch');
  return tokens(state, known.login, known.scopes);
}

function byDevice(state: CodeHostState, code: string): Answer {
  state.asked.push('poll');
  const device = state.devices.get(code);
  if (!device) return failure('incorrect_device_code');
  const early = state.now() - device.askedAt < state.deviceInterval * 1_000;
  device.askedAt = state.now();
  if (early) return failure('slow_down', { interval: state.deviceInterval + 5 });
  if (device.denied) return failure('access_denied');
  if (device.login === null) return failure('authorization_pending');
  state.devices.delete(code);
  return tokens(state, device.login, device.scopes);
}

/** Each works once: the next one comes with the new token. */
function byRefreshToken(state: CodeHostState, token: string): Answer {
  state.asked.push('refresh');
  const known = state.refreshTokens.get(token);
  state.refreshTokens.delete(token);
  return known ? tokens(state, known.login, known.scopes) : failure('bad_refresh_token');
}

function deviceCode(state: CodeHostState, form: URLSearchParams): Answer {
  if (form.get('client_id') !== clientId) return failure('incorrect_client_credentials');
  const code = secret(state, 'device');
  const userCode = `${randomBytes(2).toString('hex')}-${randomBytes(2).toString('hex')}`.toUpperCase();
  const scopes = granted(state, form.get('scope'));
  state.devices.set(code, { userCode, scopes, login: null, denied: false, askedAt: state.now() });
  return {
    status: 200,
    body: {
      device_code: code,
      user_code: userCode,
      verification_uri: 'https://github.example/login/device',
      expires_in: DEVICE_SECONDS,
      interval: state.deviceInterval,
    },
  };
}

function tokens(state: CodeHostState, login: string, scopes: string[]): Answer {
  const token = secret(state, 'token');
  const { tokenSeconds } = state;
  const expiresAt = tokenSeconds === null ? Number.POSITIVE_INFINITY : state.now() + tokenSeconds * 1_000;
  state.tokens.set(token, { login, scopes, expiresAt });
  const body = { access_token: token, token_type: 'bearer', scope: scopes.join(',') };
  if (tokenSeconds === null) return { status: 200, body };
  const refreshToken = secret(state, 'refresh');
  state.refreshTokens.set(refreshToken, { login, scopes });
  const refresh = { refresh_token: refreshToken, refresh_token_expires_in: REFRESH_SECONDS };
  return { status: 200, body: { ...body, expires_in: tokenSeconds, ...refresh } };
}

function granted(state: CodeHostState, asked: string | null): string[] {
  if (state.mode === 'app') return [];
  return state.grantedScopes ?? (asked ?? '').split(/[ ,]+/).filter((scope) => scope !== '');
}

function failure(error: string, more: object = {}): Answer {
  return { status: 200, body: { error, error_description: `because of ${error}`, ...more } };
}

function secret(state: CodeHostState, kind: string): string {
  const made = `canary-${kind}-${randomBytes(15).toString('hex')}`;
  state.secrets.push(made);
  return made;
}
