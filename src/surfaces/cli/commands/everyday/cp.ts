/** `sandhaven cp`: copies a file into a sandbox or out of it, as a stream. */
import { connectionOf } from '../../connection.ts';
import { download } from '../../copy/download.ts';
import { inWords, parseCopy } from '../../copy/place.ts';
import { upload } from '../../copy/upload.ts';
import { commonFlags, flagIsSet, flagValue, parseKnownFlags } from '../../flags.ts';
import { commonHelp } from '../../help.ts';
import type { Command } from '../../io.ts';
import { printable } from '../../output.ts';

const help = `Usage: sandhaven cp LOCAL SANDBOX:PATH
       sandhaven cp SANDBOX:PATH LOCAL

Copies one file of any size, byte for byte, with its permissions. - is standard input or output. A PATH
that does not begin with / is in /workspace, or with a user in the user's home. A directory as the target
takes the file under its own name. Write a local name with a colon as ./a:b.

  sandhaven cp data.csv demo:/workspace/
  sandhaven cp demo:report.pdf .
  sandhaven cp demo:/var/log/syslog - | less
  tar cz src | sandhaven cp - demo:/tmp/src.tar.gz

  -u, --user USER    Linux user of the sandbox who reads the file, or owns the new one (default: root)

${commonHelp}`;

export const cp: Command = {
  summary: 'copy a file into a sandbox or out of it',
  shape: () => ({ flags: { user: 'text' }, takes: ['place'], repeats: true }),
  async run(argv, io) {
    const flags = parseKnownFlags(argv, { ...commonFlags, user: { type: 'string', short: 'u' } });
    if (flagIsSet(flags, 'help')) {
      io.stdout.write(help);
      return 0;
    }
    const copy = parseCopy([...flags.positionals, ...(flags.rest ?? [])]);
    const connection = await connectionOf(flags, io);
    const json = flagIsSet(flags, 'json');
    const user = flagValue(flags, 'user');
    if (copy.direction === 'up') {
      const result = await upload(connection, { ...copy, user }, io);
      const words = `${inWords(result.bytes_written)} are in ${copy.to.sandbox}:${result.path}`;
      io.stdout.write(json ? `${JSON.stringify(result)}\n` : `${printable(words)}\n`);
      return 0;
    }
    const result = await download(connection, { ...copy, user }, io);
    // Standard output then belongs to the bytes.
    const report = result.path === '-' ? null : json ? JSON.stringify(result) : wordsOf(result);
    if (report !== null) io.stdout.write(`${report}\n`);
    return 0;
  },
};

function wordsOf({ path, bytes }: { path: string; bytes: number }): string {
  return printable(`${inWords(bytes)} are in ${path}`);
}
