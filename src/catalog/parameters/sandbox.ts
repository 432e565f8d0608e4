/**
 * Parameters that name a sandbox, a Linux user or a terminal of one, and the rule of tools that change only the given
 * parameters.
 */
import { z } from 'zod';
import { invalidArgument } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { linuxUserPattern } from '../../model/sandbox.ts';
import { textWithoutNul } from './scalars.ts';

function reference() {
  return textWithoutNul().min(1).max(limits.sandboxNameChars);
}

/** Name of a new sandbox or snapshot. @param idPrefix How ids of its kind begin, and so no name. */
export function newName(idPrefix: string) {
  return z
    .string()
    .min(1)
    .max(limits.sandboxNameChars)
    .regex(/^[A-Za-z0-9 ._-]*$/, 'must consist of letters, digits, space, dot, underscore and hyphen')
    .refine((name) => !name.startsWith(idPrefix), `must not begin with ${idPrefix}, which is kept for IDs`);
}

export const sandbox = reference().describe('Name or ID.');

export const optionalSandbox = reference().optional().describe('Name or ID, if several.');

const userForm = `must be a name in small letters, such as ann, or a number up to ${limits.linuxUserId}`;

function linuxUser() {
  const user = z.string().regex(linuxUserPattern, userForm);
  // No name is a number.
  return user.refine((text) => !(Number(text) > limits.linuxUserId), userForm).optional();
}

/** User of one call. */
export const asUser = linuxUser().describe('Linux user, from its home.');

/** User of all calls that name none. */
export const usualUser = linuxUser().describe('Linux user of calls (default: root).');

const { idChars } = limits.terminal;

/** Id of a terminal. */
export function terminalId() {
  return z
    .string()
    .regex(new RegExp(`^[A-Za-z0-9_-]{1,${idChars}}$`), `must be 1-${idChars} letters, digits, _ or -`);
}

/** Returns null without a size. Throws `invalid_argument` for half of one. */
export function terminalSizeOf({ cols, rows }: { cols?: number | undefined; rows?: number | undefined }) {
  if (cols !== undefined && rows !== undefined) return { columns: cols, rows };
  if (cols === rows) return null;
  const missing = cols === undefined ? 'cols' : 'rows';
  throw invalidArgument(missing, 'cols and rows go together.', 'Give both or none.');
}

/**
 * Rule of tools that change only the given parameters: at least one is required. Returns a function for `.check()` of
 * an input; the error names the first of the parameters.
 */
export function nothingToChange(...parameters: [string, ...string[]]) {
  return z.check<Record<string, unknown>>(({ value, issues }) => {
    if (parameters.some((parameter) => value[parameter] !== undefined)) return;
    const [first, ...others] = parameters;
    const message = `or ${others.join(' or ')} must be given: there is nothing to change`;
    issues.push({ code: 'custom', path: [first], input: value, message });
  });
}
