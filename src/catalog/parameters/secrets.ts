/** Secrets by name or id. */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';

const { nameChars, perSandbox } = limits.secrets;

export function secretReferences() {
  return z.array(z.string().min(1).max(nameChars)).max(perSandbox);
}
