/** GetFilePreviewUrl: an address of a few minutes where a browser shows one image or PDF of a sandbox. */
import { z } from 'zod';
import { requiredPath } from '../../catalog/parameters/path.ts';
import { sandbox } from '../../catalog/parameters/sandbox.ts';
import { limits } from '../../model/limits.ts';
import { defineAction } from '../action.ts';

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
