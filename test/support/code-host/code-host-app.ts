/** The provider's endpoints for an app that is installed at repositories: it proves itself by RS256. */
import { createVerify, randomBytes } from 'node:crypto';
import type { Answer, CodeHostState, Question } from './code-host.ts';

const INSTALLATION_MS = 3_600_000;
const JWT_SECONDS = 600;

/** null: not one of these endpoints. */
export function appAnswer(state: CodeHostState, question: Question): Answer | null {
  const [, found] = /^\/api\/v3\/repos\/([^/]+\/[^/]+)\/installation$/.exec(question.path) ?? [];
  const [, number] = /^\/api\/v3\/app\/installations\/(\d+)\/access_tokens$/.exec(question.path) ?? [];
  if (found === undefined && number === undefined) return null;
  if (!isSigned(state, question.headers.authorization)) return { status: 401, body: { message: 'no JWT' } };
  if (found !== undefined) {
    state.asked.push('installation');
    const at = [...state.repositories.keys()].indexOf(found);
    const installed = state.repositories.get(found)?.installed;
    return installed ? { status: 200, body: { id: at + 1, suspended_at: null } } : { status: 404 };
  }
  return mint(state, Number(number), question.json);
}

function mint(state: CodeHostState, number: number, json: Record<string, unknown>): Answer {
  state.asked.push('mint');
  const name = [...state.repositories.keys()][number - 1] ?? '';
  const repository = state.repositories.get(name);
  const { repositories, permissions } = json as {
    repositories?: string[];
    permissions?: { contents?: string };
  };
  const contents = permissions?.contents ?? '';
  if (repositories?.length !== 1 || repositories[0] !== name.split('/')[1]) return { status: 422 };
  if (!repository?.installed || (contents === 'write' && repository.installed !== 'write')) {
    return {
      status: 422,
      body: { message: 'The permissions requested are not granted to this installation.' },
    };
  }
  const token = `canary-installation-${randomBytes(15).toString('hex')}`;
  state.secrets.push(token);
  const expiresAt = state.now() + INSTALLATION_MS;
  state.installationTokens.set(token, { repository: name, contents, expiresAt });
  return { status: 201, body: { token, expires_at: new Date(expiresAt).toISOString(), permissions } };
}

function isSigned(state: CodeHostState, authorization = ''): boolean {
  const [, head = '', claims = '', signature = ''] =
    /^Bearer ([^.]+)\.([^.]+)\.([^.]+)$/.exec(authorization) ?? [];
  const good = createVerify('RSA-SHA256')
    .update(`${head}.${claims}`)
    .verify(state.app.publicKey, signature, 'base64url');
  if (!good) return false;
  const { alg } = JSON.parse(Buffer.from(head, 'base64url').toString());
  const { iss, iat, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString());
  const now = state.now() / 1_000;
  return alg === 'RS256' && iss === state.app.id && iat <= now && exp > now && exp - iat <= JWT_SECONDS;
}
