/** Progress of a backup or a restore on standard error, and its result. */
import { type Entry, MANIFEST, sandboxOfFile } from '../../../backup/entry.ts';
import type { LeftOut } from '../../../backup/manifest.ts';
import { limits } from '../../../model/limits.ts';
import { inWords } from '../../../surfaces/cli/copy/place.ts';
import type { CliIo } from '../../../surfaces/cli/io.ts';
import { printable } from '../../../surfaces/cli/output.ts';

export interface Progress {
  watch(entries: AsyncIterable<Entry>): AsyncGenerator<Entry>;
  /** Writes the result. @returns the exit status */
  report(result: { words: string; out: CliIo['stdout'] | CliIo['stderr'] }): number;
}

export function createProgress(
  { stderr }: Pick<CliIo, 'stderr'>,
  { isQuiet }: { isQuiet: boolean },
): Progress {
  let sandboxes = 0;
  let bytes = 0;
  const manifest: Buffer[] = [];

  async function* counted({ name, content }: Entry): AsyncGenerator<Buffer> {
    let kept = 0;
    for await (const piece of content) {
      bytes += piece.length;
      kept += piece.length;
      if (name === MANIFEST && kept <= limits.backups.manifestBytes) manifest.push(piece);
      yield piece;
    }
  }

  return {
    async *watch(entries) {
      for await (const entry of entries) {
        yield { ...entry, content: counted(entry) };
        const id = sandboxOfFile(entry.name);
        if (id === null) continue;
        sandboxes += 1;
        if (!isQuiet) stderr.write(`${sandboxes} sandboxes, ${inWords(bytes)}: ${id}\n`);
      }
    },

    report({ words, out }) {
      const leftOut = leftOutIn(Buffer.concat(manifest).toString());
      if (isQuiet) out.write(`${JSON.stringify({ sandboxes, bytes, left_out: leftOut })}\n`);
      else {
        for (const { sandbox, reason } of leftOut)
          out.write(`${printable(`Left out: ${sandbox}. ${reason}`)}\n`);
        out.write(`${words}: ${sandboxes} sandboxes, ${inWords(bytes)}.\n`);
      }
      return leftOut.length === 0 ? 0 : 1;
    },
  };
}

/** The text is from a service of this host, and was checked by a restore. */
function leftOutIn(manifest: string): LeftOut[] {
  const { left_out: leftOut } = JSON.parse(manifest) as { left_out: LeftOut[] };
  return leftOut;
}
