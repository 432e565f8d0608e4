/** The commands for clients of a service, beside those of the host. */
import type { Command } from '../io.ts';
import { administrationCommands } from './administration.ts';
import { attach } from './attach.ts';
import { call, tools } from './call.ts';
import { completion } from './completion.ts';
import { context } from './context.ts';
import { build } from './everyday/build.ts';
import { cp } from './everyday/cp.ts';
import { logs } from './everyday/logs.ts';
import { create, fork, inspect, ls, pause, resume, rm, rollback, start, stop } from './everyday/sandboxes.ts';
import { snapshot } from './everyday/snapshot.ts';
import { forward } from './forward.ts';
import { login, logout } from './login.ts';
import { repl } from './repl.ts';
import { exec, run } from './run.ts';
import { ssh } from './ssh.ts';

/** Verbs for people, in the order of a sandbox's life. */
const everyday = {
  run,
  create,
  ls,
  inspect,
  exec,
  repl,
  attach,
  ssh,
  cp,
  logs,
  forward,
  fork,
  rollback,
  build,
  start,
  stop,
  pause,
  resume,
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
