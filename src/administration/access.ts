/** Actions on ways into sandboxes. */
import { z } from 'zod';
import { requiredPath } from '../catalog/parameters/path.ts';
import { sandbox } from '../catalog/parameters/sandbox.ts';
import { limits } from '../model/limits.ts';
import { defineAction } from './action.ts';

const MINUTES = limits.preview.files.seconds / 60;

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

export const revokeAccess = defineAction({
  name: 'RevokeAccess',
  title: 'Revoke access to a sandbox',
  description:
    'Ends every SSH token, every signed preview URL and every standard preview token of one of your sandboxes, and ' +
    'their open connections, in any state of the sandbox. Standard previews get a new token: request it again.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'access revoke',
  argument: 'sandbox',
  input: z.strictObject({
    sandbox,
    kind: z.enum(kinds).optional().describe('Only SSH access, or only previews (default both).'),
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
      kind === undefined ? kinds : [kind],
    );
    return { sandbox: sandboxId, ssh: tokens.ssh, previews: tokens.preview, revoked: true as const };
  },
});
