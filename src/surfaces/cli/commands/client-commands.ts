/** The commands for clients of a service, beside those of the host. */

import type { Command } from '../io.ts';
import { administrationCommands } from './administration.ts';
import { attach } from './attach.ts';
import { call } from './call.ts';
import { completion } from './completion.ts';
import { context } from './contexts/context.ts';
import { login } from './contexts/login.ts';
import { logout } from './contexts/logout.ts';
import { cp } from './everyday/cp.ts';
import { create } from './everyday/create.ts';
import { exec } from './everyday/exec.ts';
import { inspect } from './everyday/inspect.ts';
import { logs } from './everyday/logs.ts';
import { snapshot } from './everyday/snapshot.ts';
import { start, stop } from './everyday/start-stop.ts';
import { forward } from './forward.ts';
import { ls } from './ls.ts';
import { rm } from './rm.ts';
import { run } from './run.ts';
import { ssh } from './ssh.ts';
import { tools } from './tools.ts';

/** Verbs for people, in the order of a sandbox's life. */
const everyday = {
  run,
  create,
  ls,
  inspect,
  exec,
  attach,
  ssh,
  cp,
  logs,
  forward,
  start,
  stop,
  rm,
  snapshot,
};

/** Services that a person uses, each with its key. */
const contexts = { login, logout, context };

export function withClientCommands(ofHost: Record<string, Command>): Record<string, Command> {
  const all: Record<string, Command> = {
    ...{ ...ofHost, ...everyday, call, tools, completion: completion(() => all) },
    ...{ ...contexts, ...administrationCommands() },
  };
  return all;
}
