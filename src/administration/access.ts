/** Actions on ways into sandboxes. */
import { z } from 'zod';
import { timestamp } from '../catalog/base/sandbox-view.ts';
import { sandbox } from '../catalog/parameters/sandbox.ts';
import { requiredPath, textWithoutNul } from '../catalog/parameters/scalars.ts';
import type { AccessToken } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import { waysInside } from '../model/sandbox-access.ts';
import { defineAction } from './action.ts';

const MINUTES = limits.preview.files.seconds / 60;

const TOKEN_DAYS = limits.sandboxTokens.minutes / 1_440;

export const createSandboxToken = defineAction({
  name: 'CreateSandboxToken',
  title: 'Create a token of one sandbox',
  description:
    'Creates a token for the files, commands, code, sessions, processes, terminals, watches and previews of one of your ' +
    'sandboxes, in place of an API key. It opens no other sandbox, nothing of you, and no change of the sandbox itself. What is ' +
    `done by it counts to the owner. It is a secret, and ends after ${TOKEN_DAYS} days at most, with your key's own end, with the ` +
    'sandbox, and by RevokeAccess.',
  role: 'member',
  scope: 'sandboxes:write',
  forViewers: false,
  command: 'tokens create',
  argument: 'sandbox',
  input: z.strictObject({
    sandbox,
    expires_in_minutes: z.int().min(1).max(limits.sandboxTokens.minutes).default(60),
  }),
  output: z.looseObject({
    sandbox: z.string(),
    token: z.string(),
    token_id: z.string().describe('Stands in the audit log in place of the id of a key.'),
    expires_at: z.string(),
  }),
  async handler({ sandbox: reference, expires_in_minutes: minutes }, { services, caller }) {
    const { sandboxId, token, tokenId, expiresAt } = await services.sandboxTokens.create(
      caller,
      reference,
      minutes,
    );
    return { sandbox: sandboxId, token, token_id: tokenId, expires_at: timestamp(expiresAt) };
  },
});

export const getFilePreviewUrl = defineAction({
  name: 'GetFilePreviewUrl',
  title: 'Preview a file',
  description:
    'Gives an address where a browser shows one image or PDF of a started sandbox, on a site of its own where no script ' +
    `runs. It is a secret, and works for ${MINUTES} minutes at most; it ends with your key, and when previews of the ` +
    'sandbox are revoked. Viewers get none.',
  role: 'member',
  scope: 'sandboxes:read',
  forViewers: false,
  command: 'files preview',
  argument: 'sandbox',
  input: z.strictObject({ sandbox, path: requiredPath('The image or PDF') }),
  output: z.looseObject({ url: z.string(), media_type: z.string(), expires_at: z.string() }),
  async handler({ sandbox: reference, path }, { services, caller }) {
    const { url, mediaType, expiresAt } = await services.filePreviews.create(caller, reference, path);
    return { url, media_type: mediaType, expires_at: new Date(expiresAt).toISOString() };
  },
});

const signing = {
  role: 'member',
  scope: 'sandboxes:write',
  forViewers: false,
  argument: 'sandbox',
  input: z.strictObject({ sandbox }),
  output: z.looseObject({ sandbox: z.string(), signing_key: z.string() }),
} as const;

const DAYS = limits.preview.signedFileSeconds / 86_400;

export const getSigningKey = defineAction({
  ...signing,
  name: 'GetSigningKey',
  title: 'Get the signing key of a sandbox',
  description:
    `Shows the key that signs addresses of single files, each for ${DAYS} days at most. It is a secret: whoever has it reads and ` +
    'writes every file. It changes when it is rotated, and when previews of the sandbox are revoked.',
  command: 'files key',
  handler: async ({ sandbox: reference }, { services, caller }) => ({
    ...{ sandbox: reference, signing_key: await services.signedFiles.key(caller, reference) },
  }),
});

export const rotateSigningKey = defineAction({
  ...signing,
  name: 'RotateSigningKey',
  title: 'Rotate the signing key of a sandbox',
  description: 'Ends all addresses that the key has signed, and shows the next key.',
  command: 'files rotate-key',
  handler: async ({ sandbox: reference }, { services, caller }) => ({
    ...{ sandbox: reference, signing_key: await services.signedFiles.rotate(caller, reference) },
  }),
});

const kinds = ['ssh', 'preview'] as const;

const token = textWithoutNul().min(1).max(limits.sandboxTokens.chars).meta({
  description: 'SSH token, or the token of a signed preview URL: what its host name has behind the port.',
  sensitive: true,
});

const shownToken = z.looseObject({
  sandbox: z.string(),
  kind: z.enum(kinds),
  port: z.int().nullable().describe('Of a preview.'),
  created_at: z.string(),
  expires_at: z.string().nullable(),
});

function shown({ sandboxId, kind, port, createdAt, expiresAt }: AccessToken): z.output<typeof shownToken> {
  return {
    ...{ sandbox: sandboxId, kind, port, created_at: timestamp(createdAt) },
    expires_at: expiresAt === null ? null : timestamp(expiresAt),
  };
}

export const getAccessToken = defineAction({
  name: 'GetAccessToken',
  title: 'Show what a token gives access to',
  description:
    'Shows the sandbox, kind, port and times of one SSH token or signed preview token of your sandboxes; not_found for one ' +
    'that gives no access.',
  role: 'member',
  scope: 'sandboxes:read',
  forViewers: false,
  command: 'access show',
  secret: 'token',
  input: z.strictObject({ token }),
  output: shownToken,
  handler: async (input, { services, caller }) =>
    shown(await services.accessRevocation.tokenOf(caller, input.token)),
});

export const revokeAccessToken = defineAction({
  name: 'RevokeAccessToken',
  title: 'Revoke one token',
  description:
    'Ends one SSH token or signed preview URL of one of your sandboxes, and the connections that are open by it.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'access revoke-token',
  argument: 'sandbox',
  secret: 'token',
  input: z.strictObject({ sandbox, token }),
  output: shownToken.extend({ revoked: z.literal(true) }),
  async handler({ sandbox: reference, token }, { services, caller }) {
    const revoked = await services.accessRevocation.revokeToken(caller, reference, token);
    return { ...shown(revoked), revoked: true as const };
  },
});

export const revokeAccess = defineAction({
  name: 'RevokeAccess',
  title: 'Revoke access to a sandbox',
  description:
    'Ends every SSH token, every signed preview URL, every standard preview token and every token of one of your sandboxes, ' +
    'and their open connections, in any state of the sandbox. Standard previews get a new token: request it again.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'access revoke',
  argument: 'sandbox',
  input: z.strictObject({
    sandbox,
    kind: z
      .enum(waysInside)
      .optional()
      .describe(
        'Only SSH access, only previews, or only tokens of the sandbox, with previews (default all).',
      ),
  }),
  output: z.looseObject({
    sandbox: z.string(),
    ssh: z.int().describe('SSH tokens that had not expired.'),
    previews: z.int().describe('Signed URLs that had not expired.'),
    revoked: z.literal(true),
  }),
  async handler({ sandbox: reference, kind }, { services, caller }) {
    const { sandboxId, tokens } = await services.accessRevocation.revoke(
      caller,
      reference,
      kind === undefined ? waysInside : [kind],
    );
    return { sandbox: sandboxId, ssh: tokens.ssh, previews: tokens.preview, revoked: true as const };
  },
});
