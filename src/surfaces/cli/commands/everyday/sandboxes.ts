/** Commands about sandboxes as a whole: `sandhaven ls`, `create`, `fork`, `rollback`, `inspect`, `start`, `stop`, `pause`, `resume` and `rm`. */
import type { Action } from '../../../../administration/action.ts';
import { pauseSandbox, resumeSandbox } from '../../../../administration/sleep.ts';
import type { SandboxView } from '../../../../catalog/base/sandbox-view.ts';
import type { Tool } from '../../../../catalog/base/tool.ts';
import { createSandbox } from '../../../../catalog/sandboxes/create-sandbox.ts';
import { deleteSandbox, startSandbox, stopSandbox } from '../../../../catalog/sandboxes/lifecycle.ts';
import { getSandbox, listSandboxes } from '../../../../catalog/sandboxes/views.ts';
import { forkSandbox, rollbackSandbox } from '../../../../catalog/snapshots/forks.ts';
import { createAdminClient, createClient } from '../../client.ts';
import { connectionOf } from '../../connection.ts';
import { commonFlags, flagIsSet, flagValue, longUser, parseKnownFlags, usageError } from '../../flags.ts';
import { commonHelp } from '../../help.ts';
import type { Command } from '../../io.ts';
import { printable, printProblem, printRecords, printResult, render, table } from '../../output.ts';
import { shapeOfInput } from '../../shape.ts';
import { allPages, eachVerb, toolVerb } from '../../tool-verb.ts';

const lsHelp = `Usage: sandhaven ls [--state STATE] [--json]

Lists all your sandboxes, newest first.

  --state STATE      only those started, stopped, archived or in error

${commonHelp}`;

export const ls: Command = {
  summary: 'list your sandboxes',
  shape: () => ({ flags: { state: shapeOfInput(listSandboxes.input)['state'] ?? 'text' } }),
  async run(argv, io) {
    const flags = parseKnownFlags(argv, { ...commonFlags, state: { type: 'string' } });
    if (flagIsSet(flags, 'help')) {
      io.stdout.write(lsHelp);
      return 0;
    }
    const json = flagIsSet(flags, 'json');
    const state = flagValue(flags, 'state');
    const client = createClient(await connectionOf(flags, io));
    const parameters = state === undefined ? {} : { state };
    const asked = { tool: listSandboxes, key: 'sandboxes', parameters };
    const { items: sandboxes, problem } = await allPages<SandboxView>(client, asked, io.signal);
    if (problem) return printProblem(problem, json, io);
    if (json) io.stdout.write(`${JSON.stringify({ sandboxes, total_count: sandboxes.length })}\n`);
    else if (sandboxes.length === 0) io.stdout.write('There are no sandboxes.\n');
    else io.stdout.write(`${table(sandboxes.map(toRow))}\n`);
    return 0;
  },
};

function toRow({ name, id, state, operation, asleep_since, language, resources, created_at }: SandboxView) {
  const aside = operation ?? (asleep_since ? 'asleep' : null);
  return {
    name,
    id,
    state: aside ? `${state} (${aside})` : state,
    language,
    cpu: resources.cpu,
    memory: `${resources.memory} GB`,
    disk: `${resources.disk} GB`,
    created: created_at,
  };
}

const verb = toolVerb({
  usage: 'sandhaven create',
  summary: 'create a sandbox',
  tool: createSandbox,
  // The ID is last, since a name may hold spaces.
  print: ({ name, id }) => `${printable(`${name}  ${id}`)}\n`,
});

/** `sandhaven create`: makes a sandbox that stays. */
export const create: Command = {
  ...verb,
  run: (argv, io) => verb.run(argv.map(oneOfSecrets).map(longUser), io),
};

/** Takes `--secret NAME`, once for each, as `--secrets NAME`. */
function oneOfSecrets(word: string): string {
  return word.replace(/^--secret(?==|$)/, '--secrets');
}

/** `sandhaven fork`: starts copies of a sandbox. */
export const fork = toolVerb({
  usage: 'sandhaven fork',
  summary: 'start copies of a sandbox, with its files',
  tool: forkSandbox,
  of: 'sandbox',
  print: ({ sandboxes }) =>
    (sandboxes as SandboxView[]).map(({ name, id }) => `${printable(`${name}  ${id}`)}\n`).join(''),
  failures: ({ failed }) =>
    (failed as { code: string; detail: string }[]).map(
      ({ code, detail }) => `A fork did not start (${code}): ${detail}`,
    ),
});

/** `sandhaven rollback`: puts a sandbox back to a snapshot. */
export const rollback = toolVerb({
  usage: 'sandhaven rollback',
  summary: 'put the files of a sandbox back to a snapshot',
  tool: rollbackSandbox,
  of: 'sandbox',
  print: ({ name, id }) => `${printable(`${name}  ${id}`)}\n`,
});

/** `sandhaven inspect`: all about one sandbox or several. */
export const inspect = eachVerb({
  usage: 'sandhaven inspect',
  summary: 'show all about sandboxes',
  of: 'sandbox',
  listedBy: 'sandhaven ls',
  definition: getSandbox,
  call: (connection) => {
    const client = createClient(connection);
    return (parameters, options) => client(getSandbox, parameters, options);
  },
  print: (result, { stdout }) => void stdout.write(`${render(result)}\n`),
});

/** `sandhaven start` and `sandhaven stop`: of one sandbox or several. */
export const start = lifecycleVerb('start', 'start sandboxes', startSandbox);
export const stop = lifecycleVerb('stop', 'stop sandboxes; their files stay', stopSandbox);

function lifecycleVerb(word: string, summary: string, tool: Tool): Command {
  return eachVerb({
    usage: `sandhaven ${word}`,
    summary,
    of: 'sandbox',
    listedBy: 'sandhaven ls',
    definition: tool,
    call: (connection) => {
      const client = createClient(connection);
      return (parameters, options) => client(tool, parameters, options);
    },
    print: (result, io) => printResult(tool, result, false, io),
  });
}

/** `sandhaven pause` and `sandhaven resume`: of one sandbox or several. */
export const pause = sleepVerb('pause', 'put sandboxes to sleep; any use wakes them', pauseSandbox);
export const resume = sleepVerb('resume', 'wake sandboxes that sleep', resumeSandbox);

function sleepVerb(word: string, summary: string, action: Action): Command {
  return eachVerb({
    usage: `sandhaven ${word}`,
    summary,
    of: 'sandbox',
    listedBy: 'sandhaven ls',
    definition: action,
    call: (connection) => {
      const client = createAdminClient(connection);
      return (parameters, options) => client(action, parameters, options);
    },
    print: (result, io) => printRecords(null, result, false, io),
  });
}

const rmHelp = `Usage: sandhaven rm SANDBOX …

Deletes sandboxes, by name or ID, and everything in them.

${commonHelp}`;

/** `sandhaven rm`: deletes sandboxes. */
export const rm: Command = {
  summary: 'delete sandboxes',
  shape: () => ({ takes: ['sandbox'], repeats: true }),
  async run(argv, io) {
    const flags = parseKnownFlags(argv, commonFlags);
    if (flagIsSet(flags, 'help')) {
      io.stdout.write(rmHelp);
      return 0;
    }
    const references = [...flags.positionals, ...(flags.rest ?? [])];
    if (references.length === 0) throw usageError('No sandbox is named.', '`sandhaven ls` lists them.');
    const json = flagIsSet(flags, 'json');
    const client = createClient(await connectionOf(flags, io));
    let status = 0;
    for (const sandbox of references) {
      const { result, problem } = await client(deleteSandbox, { sandbox }, { signal: io.signal });
      if (problem) status ||= printProblem(problem, json, io);
      else printResult(deleteSandbox, result, json, io);
    }
    return status;
  },
};
