/** A flag of `sandhaven up`. Every flag is an environment variable too. */

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
