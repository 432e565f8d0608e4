/** `sandhaven logout`: removes a stored key. */
import { chosenContext } from '../../contexts/chosen-context.ts';
import { readContexts, writeContexts } from '../../contexts/context-file.ts';
import { commonFlags, flagIsSet, flagValue, parseKnownFlags, usageError } from '../../flags.ts';
import { commonHelp } from '../../help.ts';
import type { CliIo, Command } from '../../io.ts';
import { printable } from '../../render.ts';

const help = `Usage: sandhaven logout [CONTEXT]

Removes a context and its key from this machine; without CONTEXT, the one in use. The key itself stays
valid: \`sandhaven keys revoke\` ends it.

${commonHelp}`;

export const logout: Command = {
  summary: 'remove a stored key',
  shape: () => ({ takes: ['context'] }),
  async run(argv, io) {
    const flags = parseKnownFlags(argv, commonFlags);
    if (flagIsSet(flags, 'help')) {
      io.stdout.write(help);
      return 0;
    }
    const [given, extra] = [...flags.positionals, ...(flags.rest ?? [])];
    if (extra !== undefined)
      throw usageError('One context is taken.', '`sandhaven context rm` takes several.');
    const named = given ?? flagValue(flags, 'context') ?? (io.env['SANDHAVEN_CONTEXT'] || undefined);
    const chosen = await chosenContext(io, named);
    if (!chosen) throw usageError('No context is in use.', '`sandhaven context ls` lists them.');
    await removeContext(chosen.name, io);
    const { name, url } = chosen;
    const words = `The key of ${url} is removed from this machine; it stays valid until it is revoked.`;
    const json = JSON.stringify({ context: name, url, removed: true });
    io.stdout.write(flagIsSet(flags, 'json') ? `${json}\n` : `${printable(words)}\n`);
    return 0;
  },
};

export async function removeContext(name: string, io: Pick<CliIo, 'env'>): Promise<void> {
  const { current, contexts } = await readContexts(io);
  const { [name]: _removed, ...others } = contexts;
  await writeContexts(io, { version: 1, current: current === name ? null : current, contexts: others });
}
