/** The areas that have a file of their own here, in the order of the catalogue. */
import { access } from './access.ts';
import { git } from './git.ts';
import { search } from './search.ts';
import { sessions } from './sessions.ts';
import { snapshots } from './snapshots.ts';
import type { Walk } from './walk.ts';

export const walks: Record<string, Walk> = { snapshots, access, search, sessions, git };
