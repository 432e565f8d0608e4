/** Names the scenarios. */
import type { Scenario } from '../base/scenario.ts';
import { burst } from './burst.ts';
import { create } from './create.ts';
import { documents } from './documents.ts';
import { execution } from './execution.ts';
import { files } from './files.ts';
import { git } from './git.ts';
import { launches } from './launches.ts';
import { memory } from './memory.ts';
import { preview } from './preview.ts';
import { rest } from './rest.ts';
import { search } from './search.ts';
import { sessions } from './sessions.ts';
import { size } from './size.ts';
import { ssh } from './ssh.ts';
import { terminal } from './terminal.ts';
import { thousand } from './thousand.ts';

/** In the order of their run. */
export const scenarios: Record<string, Scenario> = {
  create,
  rest,
  execution,
  sessions,
  files,
  search,
  git,
  preview,
  ssh,
  terminal,
  burst,
  launches,
  memory,
  size,
  documents,
  thousand,
};
/** Runs only by its name: it takes minutes. */
export const BY_NAME = 'thousand';
