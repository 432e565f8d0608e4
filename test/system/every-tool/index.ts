/** The areas that have a file of their own here, in the order of the catalogue. */
import { git } from './git.ts';
import type { Walk } from './walk.ts';

export const walks: Record<string, Walk> = { git };
