/** Who sees what: the provider's REST endpoints for users and repositories, and the same rules for Git itself. */
import {
  type Answer,
  type CodeHostState,
  clientId,
  clientSecret,
  type Question,
  type UserToken,
} from './code-host.ts';

/** null: not one of these endpoints. */
export function repositoryAnswer(state: CodeHostState, question: Question): Answer | null {
  const { method, path, headers } = question;
  if (method === 'DELETE' && path === `/api/v3/applications/${clientId}/token`)
    return revoke(state, question);
  const [, name] = /^\/api\/v3\/repos\/([^/]+\/[^/]+)$/.exec(path) ?? [];
  if (method !== 'GET' || (name === undefined && path !== '/api/v3/user')) return null;
  const token = userToken(state, /^(?:Bearer|token) (\S+)$/i.exec(headers.authorization ?? '')?.[1]);
  if (!token) return { status: 401, body: { message: 'Bad credentials' } };
  const scopes = { 'x-oauth-scopes': token.scopes.join(', ') };
  if (name === undefined) {
    const body = { id: state.accounts.indexOf(token.login) + 1, login: token.login };
    return { status: 200, body, headers: scopes };
  }
  state.asked.push('look');
  const repository = state.repositories.get(name);
  if (repository?.singleSignOn) {
    const sso = `required; url=http://${headers.host}/orgs/acme/sso?authorization_request=AZSC`;
    return { status: 403, headers: { 'x-github-sso': sso, ...scopes } };
  }
  if (!repository || !sees(state, token, name)) return { status: 404, headers: scopes };
  const permissions = { pull: true, push: repository.writers.includes(token.login) };
  return { status: 200, body: { private: repository.isPrivate, permissions }, headers: scopes };
}

/** The status that Git gets; null: it is let through. */
export function gitRefusal(state: CodeHostState, url: URL, authorization: string | undefined): number | null {
  const [, name = '', tail = ''] = /^\/([^/]+\/[^/]+)\.git\/(.+)$/.exec(url.pathname) ?? [];
  const writes = tail === 'git-receive-pack' || url.searchParams.get('service') === 'git-receive-pack';
  const repository = state.repositories.get(name);
  const given = /^Basic (\S+)$/.exec(authorization ?? '')?.[1];
  if (given === undefined) {
    state.asked.push('git as anybody');
    return repository && !repository.isPrivate && !writes ? null : 401;
  }
  const password = Buffer.from(given, 'base64').toString().split(':')[1] ?? '';
  const installation = state.installationTokens.get(password);
  if (installation && installation.expiresAt > state.now()) {
    state.asked.push(`git by installation, ${installation.contents}`);
    if (installation.repository !== name) return 404;
    return writes && installation.contents !== 'write' ? 403 : null;
  }
  const token = userToken(state, password);
  if (!token) return 401;
  state.asked.push(`git by ${token.login}`);
  if (!repository || !sees(state, token, name)) return 404;
  if (repository.singleSignOn) return 403;
  return writes && !(repository.writers.includes(token.login) && token.scopes.includes('repo')) ? 403 : null;
}

function sees(state: CodeHostState, token: UserToken, name: string): boolean {
  const repository = state.repositories.get(name);
  if (!repository) return false;
  if (!repository.isPrivate) return true;
  const opened = state.mode === 'app' ? repository.installed !== null : token.scopes.includes('repo');
  return opened && repository.readers.includes(token.login);
}

function userToken(state: CodeHostState, token: string | undefined): UserToken | null {
  const known = state.tokens.get(token ?? '');
  return known && known.expiresAt > state.now() ? known : null;
}

function revoke(state: CodeHostState, { headers, json }: Question): Answer {
  state.asked.push('revoke');
  const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  if (headers.authorization !== basic) return { status: 404 };
  return { status: state.tokens.delete(String(json['access_token'])) ? 204 : 422 };
}
