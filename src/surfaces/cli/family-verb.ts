/** A verb of several words: the first names the family, and the second its member. */
import { nearest } from '../../model/nearest.ts';
import { usageError } from './flags.ts';
import { commonHelp } from './help.ts';
import type { Command } from './io.ts';

export function familyVerb(family: string, summary: string, members: Record<string, Command>): Command {
  return {
    summary,
    shape: () => ({
      members: Object.fromEntries(
        Object.entries(members).map(([word, member]) => [word, member.shape?.() ?? {}]),
      ),
    }),
    async run([word, ...argv], io) {
      if (word === '--help' || word === '-h') {
        io.stdout.write(familyHelp(family, members));
        return 0;
      }
      const member = word !== undefined && Object.hasOwn(members, word) ? members[word] : undefined;
      if (member) return member.run(argv, io);
      const [close] = nearest(word ?? '', Object.keys(members));
      throw usageError(
        word === undefined ? `sandhaven ${family} needs a command.` : `There is no '${family} ${word}'.`,
        close ? `Did you mean \`sandhaven ${family} ${close}\`?` : `See sandhaven ${family} --help.`,
      );
    },
  };
}

function familyHelp(family: string, members: Record<string, Command>): string {
  const width = Math.max(...Object.keys(members).map((word) => word.length));
  const lines = Object.entries(members).map(
    ([word, { summary }]) => `  sandhaven ${family} ${word.padEnd(width)}  ${summary}`,
  );
  return `Usage: sandhaven ${family} …

${lines.join('\n')}

Each has --help of its own.

${commonHelp}`;
}
