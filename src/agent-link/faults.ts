/** Maps an agent's error to the caller's. An agent is hostile: codes are allow-listed, texts bounded. */
import { z } from 'zod';
import { type ErrorFields, SandhavenError } from '../model/errors.ts';
import { errorBounds, ProtocolError, parseJson } from './frames.ts';

const MAX_TEXT_CHARS = 2_000;

const word = z.string().regex(/^[a-z_]{1,40}$/);

const faultSchema = z.object({
  /** Without `unavailable` and the service's own codes, which an agent may not send. */
  code: z.enum([
    'invalid_argument',
    'not_found',
    'already_exists',
    'permission_denied',
    'failed_precondition',
    'too_large',
    'resource_exhausted',
    'timeout',
    'internal',
  ]),
  detail: z.string(),
  hint: z.string().optional(),
  parameter: word.optional(),
  resource: word.optional(),
});

/** @param payload Payload of an error frame. */
export function faultOf(payload: Buffer): SandhavenError {
  const parsed = faultSchema.safeParse(parseJson(payload, errorBounds));
  if (!parsed.success) throw new ProtocolError('an error without a known code');
  const { code, detail, hint, parameter, resource } = parsed.data;
  const fields: ErrorFields = {};
  if (hint !== undefined) fields.hint = tidy(hint);
  if (parameter !== undefined) fields.parameter = parameter;
  if (resource !== undefined) fields.resource = resource;
  return new SandhavenError(code, tidy(detail), fields);
}

export function unavailable(detail: string, cause?: unknown): SandhavenError {
  return new SandhavenError(
    'unavailable',
    detail,
    { hint: 'Try again; if it stays, stop and start the sandbox.' },
    cause,
  );
}

/** Reduces a text to one line of bounded length. */
function tidy(text: string): string {
  const line = text.slice(0, MAX_TEXT_CHARS).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '\u{FFFD}');
  return text.length > MAX_TEXT_CHARS ? `${line}…` : line;
}
