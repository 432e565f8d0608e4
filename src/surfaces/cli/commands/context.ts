/** `sandhaven context`: the services that were logged in to, without their keys. */
import { SandhavenError, toProblem } from '../../../model/errors.ts';
import { newRequestId } from '../../../model/ids.ts';
import { chosenContext, readContexts, writeContexts } from '../contexts.ts';
import { familyVerb } from '../family-verb.ts';
import { commonFlags, flagIsSet, type ParsedFlags, parseKnownFlags, usageError } from '../flags.ts';
import { commonHelp } from '../help.ts';
import type { CliIo, Command } from '../io.ts';
import { printable, printProblem, table } from '../output.ts';
import { removeContext, warnOfEnvironment } from './login.ts';

const ls = contextVerb(
  'ls',
  'list them',
  'Lists contexts; * marks the one in use.',
  async (_names, json, io) => {
    const { current, contexts } = await readContexts(io);
    const rows = Object.entries(contexts).map(([name, { url }]) => ({
      name,
      url,
      current: name === current,
    }));
    if (json) io.stdout.write(`${JSON.stringify({ contexts: rows })}\n`);
    else if (rows.length === 0) io.stdout.write('There are no contexts. `sandhaven login URL` makes one.\n');
    else {
      const shown = rows.map(({ name, url, current: used }) => ({ '': used ? '*' : ' ', name, url }));
      io.stdout.write(`${table(shown)}\n`);
    }
    return 0;
  },
);

const use = contextVerb(
  'use NAME',
  'choose the one in use',
  'Chooses the context in use.',
  async (names, json, io) => {
    const [name, extra] = names;
    if (name === undefined || extra !== undefined)
      throw usageError('Exactly one context is needed.', '`sandhaven context ls` lists them.');
    const before = await readContexts(io);
    const { url } = (await chosenContext(io, name)) ?? { url: '' };
    await writeContexts(io, { ...before, current: name });
    const words = `The context '${name}' is in use: ${url}`;
    io.stdout.write(json ? `${JSON.stringify({ context: name, url })}\n` : `${printable(words)}\n`);
    warnOfEnvironment(io);
    return 0;
  },
);

const rm = contextVerb(
  'rm NAME …',
  'remove them',
  'Removes contexts and their keys from this machine.',
  async (names, json, io) => {
    if (names.length === 0) throw usageError('No context is named.', '`sandhaven context ls` lists them.');
    let status = 0;
    for (const name of names) {
      try {
        const { url } = (await chosenContext(io, name)) ?? { url: '' };
        await removeContext(name, io);
        const words = `The context '${name}' was removed.`;
        io.stdout.write(
          json ? `${JSON.stringify({ context: name, url, removed: true })}\n` : `${printable(words)}\n`,
        );
      } catch (error) {
        if (!(error instanceof SandhavenError)) throw error;
        const own = printProblem(toProblem(error, newRequestId()), json, io);
        status = names.length === 1 ? own : 1;
      }
    }
    return status;
  },
);

export const context = familyVerb('context', 'services that you logged in to', { ls, use, rm });

function contextVerb(
  usage: string,
  summary: string,
  about: string,
  act: (names: string[], json: boolean, io: CliIo) => Promise<number>,
): Command {
  return {
    summary,
    shape: () => (usage === 'ls' ? {} : { takes: ['context'], repeats: usage.endsWith('…') }),
    async run(argv, io) {
      const flags: ParsedFlags = parseKnownFlags(argv, commonFlags);
      if (flagIsSet(flags, 'help')) {
        io.stdout.write(`Usage: sandhaven context ${usage}\n\n${about}\n\n${commonHelp}`);
        return 0;
      }
      return act([...flags.positionals, ...(flags.rest ?? [])], flagIsSet(flags, 'json'), io);
    },
  };
}
