/** Targets of secrets as people write them: `[METHOD[,METHOD] ]https://HOST[:PORT][/PATH]`. */
import { invalidArgument, type SandhavenError } from '../errors.ts';
import { limits } from '../limits.ts';
import { assertNoPublicSuffix, coversHost, parseHostPattern } from '../network/host-pattern.ts';
import { parseMethods, parsePath } from '../network/rule-text.ts';
import type { SecretTarget } from './use.ts';

const FORM = /^(?:(\S+) +)?https:\/\/([^/:]+)(?::(\d{1,5}))?(\/.*)?$/is;
const EXAMPLES = 'For example https://api.example.com, or GET,POST https://api.example.com:8443/v1.';

/** Throws `invalid_argument` naming the parameter. Says nothing about public suffixes: see `parseTargets`. */
export function parseTarget(parameter: string, given: string): SecretTarget {
  const text = given.trim();
  const [, methods, host = '', port = '443', path] = FORM.exec(text) ?? [];
  const number = Number(port);
  const isWrong = host === '' || number < 1 || number > 65_535;
  if (isWrong || text.length > limits.secrets.targetChars) throw noTarget(parameter, text);
  return {
    host: hostOf(parameter, host),
    port: number,
    methods: methods === undefined ? [] : parseMethods(parameter, methods),
    path: path === undefined ? null : parsePath(parameter, path),
  };
}

/** Returns the canonical form, which `parseTarget` parses to the same target. */
export function formatTarget({ host, port, methods, path }: SecretTarget): string {
  const before = methods.length > 0 ? `${methods.join(',')} ` : '';
  return `${before}https://${host}${port === 443 ? '' : `:${port}`}${path ?? ''}`;
}

/**
 * Returns each target once, in canonical form. Rejects with `invalid_argument` naming the parameter, also for all names
 * below a public suffix.
 */
export async function parseTargets(parameter: string, texts: readonly string[]): Promise<string[]> {
  const targets = texts.map((text) => parseTarget(parameter, text));
  await assertNoPublicSuffix(
    parameter,
    targets.map(({ host }) => host),
  );
  const once = [...new Set(targets.map(formatTarget))];
  if (once.length > 0 && once.length <= limits.secrets.targets) return once;
  throw invalidArgument(
    parameter,
    `A secret has 1 to ${limits.secrets.targets} targets, and these are ${once.length}.`,
    EXAMPLES,
  );
}

/** Returns a target whose host or port lies in none of the others; null when there is none. */
export function targetOutside(wanted: readonly string[], others: readonly string[]): string | null {
  const present = others.map((text) => parseTarget('targets', text));
  const isInside = (text: string) => {
    const { host, port } = parseTarget('targets', text);
    return present.some((other) => other.port === port && coversHost(other.host, host));
  };
  return wanted.find((text) => !isInside(text)) ?? null;
}

function hostOf(parameter: string, text: string): string {
  try {
    return parseHostPattern(parameter, text);
  } catch {
    throw invalidArgument(
      parameter,
      `'${text}' is no host that a secret can be for.`,
      'Write a name such as api.example.com, or *.example.com for all names below; no address.',
    );
  }
}

function noTarget(parameter: string, text: string): SandhavenError {
  const shown = text.length > limits.secrets.targetChars ? 'This' : `'${text}'`;
  return invalidArgument(
    parameter,
    `${shown} is no target of a secret: requests go to https://, and have a host.`,
    EXAMPLES,
  );
}
