/** Ways into a sandbox: previews of its ports, and SSH. */
import type { DaytonaCall, DaytonaRoute } from '../base/call.ts';
import { unlessMissing } from '../base/errors.ts';
import { answer, shown } from './sandbox-answer.ts';

const ONE = '/sandbox/:sandbox';

export const accessRoutes: readonly DaytonaRoute[] = [
  { method: 'GET', path: `${ONE}/ports/:port/preview-url`, handler: preview },
  { method: 'GET', path: `${ONE}/ports/:port/signed-preview-url`, handler: signedPreview },
  { method: 'POST', path: `${ONE}/ports/:port/signed-preview-url/:token/expire`, handler: endSignedPreview },
  { method: 'GET', path: '/sandbox/ssh-access/validate', handler: validateSshAccess },
  { method: 'POST', path: `${ONE}/ssh-access`, handler: createSshAccess },
  { method: 'DELETE', path: `${ONE}/ssh-access`, handler: revokeSshAccess },
  { method: 'GET', path: `${ONE}/signing-key`, handler: (call) => signingKey(call, 'GetSigningKey') },
  {
    method: 'POST',
    path: `${ONE}/signing-key/rotate`,
    handler: (call) => signingKey(call, 'RotateSigningKey'),
  },
];

/** Seconds of a signed URL for which a client names none. */
const SIGNED_SECONDS = 60;

/** Their models reject an answer without a sandbox. */
const INVALID = { valid: false, sandboxId: '' };

/** Their clients know no access without an end. */
const NEVER = '9999-12-31T23:59:59.000Z';

async function preview(call: DaytonaCall): Promise<unknown> {
  const { id } = await shown(call);
  const { url, token } = await call.tool('Sandbox.GetPortPreviewUrl', { sandbox: id, port: portIn(call) });
  return { sandboxId: id, url: plain(url), token };
}

/** The token of a signed URL is in the name of its host, behind the port. */
async function signedPreview(call: DaytonaCall): Promise<unknown> {
  const { id } = await shown(call);
  const port = portIn(call);
  const seconds = call.query['expiresInSeconds'];
  const signed = {
    signed: true,
    expires_in_seconds: seconds === undefined ? SIGNED_SECONDS : Number(seconds),
  };
  const { url } = await call.tool('Sandbox.GetPortPreviewUrl', { sandbox: id, port, ...signed });
  const [name = ''] = new URL(String(url)).hostname.split('.');
  return { sandboxId: id, port, url: plain(url), token: name.slice(`${port}-`.length) };
}

async function createSshAccess(call: DaytonaCall): Promise<unknown> {
  const { id } = await shown(call);
  const minutes = call.query['expiresInMinutes'];
  const access = await call.tool('Sandbox.CreateSshAccess', {
    sandbox: id,
    expires_in_minutes: minutes === undefined ? undefined : Number(minutes),
  });
  const now = new Date().toISOString();
  return {
    // Nothing is done by this id: the token itself names the access.
    id: call.request.id,
    sandboxId: id,
    token: access['access_token'],
    expiresAt: access['expires_at'] ?? NEVER,
    ...{ createdAt: now, updatedAt: now },
    sshCommand: access['command'],
  };
}

async function revokeSshAccess(call: DaytonaCall): Promise<unknown> {
  const { id } = await shown(call);
  const { token } = call.query;
  if (token === undefined) await call.action('RevokeAccess', { sandbox: id, kind: 'ssh' });
  else await call.action('RevokeAccessToken', { sandbox: id, token });
  return answer(call, id);
}

async function validateSshAccess(call: DaytonaCall): Promise<unknown> {
  const found = await unlessMissing(call.action('GetAccessToken', { token: call.query['token'] ?? '' }));
  return found?.['kind'] === 'ssh' ? { valid: true, sandboxId: found['sandbox'] } : INVALID;
}

async function endSignedPreview(call: DaytonaCall): Promise<unknown> {
  const { id } = await shown(call);
  await call.action('RevokeAccessToken', { sandbox: id, token: call.params['token'] });
  return undefined;
}

/** The body is the key itself, as JSON. */
async function signingKey(call: DaytonaCall, action: string): Promise<unknown> {
  const { signing_key } = await call.action(action, { sandbox: call.params['sandbox'] });
  call.reply.type('application/json; charset=utf-8');
  return JSON.stringify(signing_key);
}

function portIn({ params }: DaytonaCall): number {
  return Number(params['port']);
}

/** Clients put a path behind the URL, with its slash. */
function plain(url: unknown): string {
  return String(url).replace(/\/$/, '');
}
