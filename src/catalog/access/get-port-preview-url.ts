/** Sandbox.GetPortPreviewUrl */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { defineTool } from '../base/tool.ts';
import { sandbox } from '../parameters/sandbox.ts';

const HEADER = 'x-sandbox-preview-token';
const { min, max, default: standardSeconds } = limits.preview.expiresInSeconds;

export const getPortPreviewUrl = defineTool({
  name: 'Sandbox.GetPortPreviewUrl',
  title: 'Preview a port',
  description:
    'Gives the URL of what a started sandbox serves over HTTP on a port. Standard: send `token` in the header ' +
    'named by `header`. signed: any browser can open it until expires_at; it is a secret. A 502 there: ' +
    'nothing listens; see ListPorts.',
  input: z
    .strictObject({
      sandbox,
      port: z.int().min(1).max(65_535).describe('Port inside the sandbox (1-65535).'),
      signed: z.boolean().default(false).describe('For browsers: the URL itself is the key (default false).'),
      expires_in_seconds: z
        .int()
        .default(standardSeconds)
        .meta({
          description: `Life of a signed URL (${min}-${max}, default ${standardSeconds}).`,
          minimum: min,
          maximum: max,
        }),
    })
    // Without `signed` the value is unused, so it is not checked.
    .check(({ value, issues }) => {
      const { signed, expires_in_seconds: seconds } = value;
      if (!signed || (seconds >= min && seconds <= max)) return;
      const bound = seconds < min ? `at least ${min}` : `at most ${max}`;
      const message = `must be ${bound}; ${seconds} was given`;
      issues.push({ code: 'custom', path: ['expires_in_seconds'], input: value, message });
    }),
  output: z.looseObject({
    url: z.string(),
    port: z.int(),
    signed: z.boolean(),
    token: z.string().nullable(),
    header: z.string().nullable(),
    expires_at: z.string().nullable(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  forViewers: false,
  async handler({ sandbox: reference, port, signed, expires_in_seconds }, { services, caller }) {
    const seconds = signed ? expires_in_seconds : null;
    const { url, token, expiresAt } = await services.previews.preview(caller, reference, port, seconds);
    return {
      url,
      port,
      signed,
      token,
      header: token === null ? null : HEADER,
      expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    };
  },
});
