/** Kind of the host's devices that count as GPUs, in the terms of the Container Device Interface. */
import { invalidArgument } from './errors.ts';

export interface GpuKind {
  /** vendor/class, such as nvidia.com/gpu. */
  kind: string;
  /** The names that the operator gave; null for every whole device of the kind. */
  names: string[] | null;
}

export const defaultGpuKind: GpuKind = { kind: 'nvidia.com/gpu', names: null };

/** Form of a kind in a specification; the vendor is a domain. */
export const cdiKindPattern =
  /^[A-Za-z](?:[A-Za-z0-9_.-]{0,125}[A-Za-z0-9])?\/[A-Za-z](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$/;

export const cdiNamePattern = /^[A-Za-z0-9](?:[A-Za-z0-9_.:-]{0,126}[A-Za-z0-9])?$/;

/** @param text `vendor/class` or `vendor/class=name,name`. Throws `invalid_argument` naming the flag. */
export function parseGpuKind(flag: string, text: string): GpuKind {
  const [kind = '', list, ...rest] = text.split('=');
  const names = list === undefined ? null : list.split(',');
  const sound =
    cdiKindPattern.test(kind) &&
    rest.length === 0 &&
    (names ?? []).every((name) => cdiNamePattern.test(name));
  if (sound) return { kind, names: names && [...new Set(names)] };
  throw invalidArgument(
    flag,
    `${flag} must be vendor/class or vendor/class=name,name, and '${text}' was given.`,
    `For example ${defaultGpuKind.kind}, or ${defaultGpuKind.kind}=0,1 for two of them.`,
  );
}
