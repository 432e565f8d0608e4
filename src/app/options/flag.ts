/** A flag of `sandhaven up`, and the forms of values that several flags have. Every flag is an environment variable too. */
import { invalidArgument } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

export interface Flag<Name extends string, T> {
  /** Without its dashes. */
  name: Name;
  /** Text in place of a missing flag. */
  default: string;
  /** Heading that the help puts it under; none for flags of every service. */
  group?: 'kubernetes';
  /** One line of `sandhaven up --help`. */
  help: string;
  /** Rejects an invalid value with `invalid_argument` that names the flag. */
  parse(text: string, context: FlagContext): T;
}

export interface FlagContext {
  /** The flag with its dashes, for errors. */
  flag: string;
  /** Given by flag or by environment, and not the default. */
  chosen: boolean;
}

/** Keeps the flag's literal types while the compiler checks its shape. */
export function flag<const Name extends string, T>(flag: Flag<Name, T>): Flag<Name, T> {
  return flag;
}

/** `--ssh-listen` is SANDHAVEN_SSH_LISTEN. */
export function environmentName(flag: string): string {
  return `SANDHAVEN_${flag.toUpperCase().replaceAll('-', '_')}`;
}

/** Whole numbers from 0. */
export function parseCount(flag: string, text: string, max: number): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count > max) {
    throw invalidArgument(flag, `${flag} must be a whole number from 0 to ${max}, and '${text}' was given.`);
  }
  return count;
}

export function yesOrNo(text: string, { flag }: FlagContext): boolean {
  if (text === 'yes' || text === 'no') return text === 'yes';
  throw invalidArgument(flag, `${flag} must be yes or no, and '${text}' was given.`);
}

/** Whole numbers from 1; null for none. */
export function parseLimit(text: string, { flag }: Pick<FlagContext, 'flag'>, max: number): number | null {
  if (text === 'none') return null;
  const count = parseCount(flag, text, max);
  if (count > 0) return count;
  throw invalidArgument(flag, `${flag} must be at least 1, or none.`);
}

/** Returns a number; null for no limit (`none`); undefined for the default of the user's role (`auto`). */
export function parseQuota(text: string, { flag }: FlagContext): number | null | undefined {
  if (text === 'auto') return undefined;
  return text === 'none' ? null : parseCount(flag, text, limits.quotaMax);
}
