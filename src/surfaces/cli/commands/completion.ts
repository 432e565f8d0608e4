/** `sandhaven completion`: the script of a shell, and the answers to its questions. */

import type { Tool } from '../../../catalog/base/tool.ts';
import { listSandboxes } from '../../../catalog/sandboxes/list-sandboxes.ts';
import { listSnapshots } from '../../../catalog/snapshots/list-snapshots.ts';
import { limits } from '../../../model/limits.ts';
import { createClient } from '../client.ts';
import { connectionOf } from '../connection.ts';
import { readContexts } from '../contexts.ts';
import { commonFlags, flagIsSet, parseKnownFlags, usageError } from '../flags.ts';
import { commonHelp } from '../help.ts';
import type { CliIo, Command } from '../io.ts';
import type { Named } from '../shape.ts';
import { complete, type FindNames, type Found, type Located } from './complete.ts';
import { forBash, readBashLine, scripts } from './shells.ts';

const shells = Object.keys(scripts);

const help = `Usage: sandhaven completion bash|zsh|fish

Prints a script that completes commands, flags, and the names of sandboxes, snapshots and contexts.

  source <(sandhaven completion bash)             in ~/.bashrc
  source <(sandhaven completion zsh)              in ~/.zshrc, after compinit
  sandhaven completion fish | source              in ~/.config/fish/config.fish

Completion asks the service for names, for a second at most. Without an answer it offers none.

${commonHelp}`;

/** @param commands All of them, once they are known. */
export function completion(commands: () => Record<string, Command>): Command {
  return {
    summary: 'print the completion script of a shell',
    shape: () => ({ members: Object.fromEntries(shells.map((shell) => [shell, {}])) }),
    async run(argv, io) {
      const [first, ...rest] = argv;
      if (first === 'line' || first === 'words') return answer(first, rest, commands(), io);
      const flags = parseKnownFlags(argv, commonFlags);
      if (flagIsSet(flags, 'help')) {
        io.stdout.write(help);
        return 0;
      }
      const [shell = '', extra] = flags.positionals;
      if (!Object.hasOwn(scripts, shell) || extra !== undefined) {
        throw usageError(
          'Exactly one shell is needed: bash, zsh or fish.',
          'See sandhaven completion --help.',
        );
      }
      io.stdout.write(scripts[shell as keyof typeof scripts]);
      return 0;
    },
  };
}

/** Writes what may follow, one a line, after a line about them. A failure must not disturb the line that is typed. */
async function answer(
  form: 'line' | 'words',
  argv: string[],
  commands: Record<string, Command>,
  io: CliIo,
): Promise<number> {
  const [breaks = '', text = ''] = argv;
  const line = form === 'line' ? readBashLine(text, breaks) : null;
  const words = line ? line.words.slice(1) : argv.slice(1);
  const found = await complete(words, commands, namesFor(io)).catch((): Found | null => null);
  if (found === null) return 0;
  const about = [...(found.files ? ['files'] : []), ...(found.joined ? ['joined'] : [])].join(' ');
  const candidates = line ? forBash(found.candidates, line) : found.candidates;
  io.stdout.write([about, ...candidates].map((one) => `${one}\n`).join(''));
  return 0;
}

/** A person waits with a finger on the key. */
const ANSWER_MS = 1_000;

/** Names for completion: asked from the service within a second, and none when it does not answer. */
function namesFor(io: Pick<CliIo, 'env' | 'signal'>): FindNames {
  return async (kind, located) => {
    try {
      const names = await namesOf(kind, located, io);
      // Anything else could control the terminal, or be a command.
      return names.filter((name) => /^[\x20-\x7e]+$/.test(name));
    } catch {
      return [];
    }
  };
}

async function namesOf(
  kind: Named,
  located: Located,
  io: Pick<CliIo, 'env' | 'signal'>,
): Promise<readonly string[]> {
  switch (kind) {
    case 'sandbox':
      return asked(listSandboxes, 'sandboxes', located, io);
    case 'snapshot':
      return asked(listSnapshots, 'snapshots', located, io);
    case 'context':
      return Object.keys((await readContexts(io)).contexts);
    default:
      return [];
  }
}

/** The newest page is enough for a choice. */
async function asked(
  tool: Tool,
  key: string,
  located: Located,
  io: Pick<CliIo, 'env' | 'signal'>,
): Promise<string[]> {
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(ANSWER_MS)]);
  const values = new Map([...located].map(([flag, value]) => [flag, [value]]));
  const connection = await connectionOf({ values, positionals: [], rest: null, unknown: [] }, io);
  const { result } = await createClient(connection)(tool, { page_size: limits.pageSize.max }, { signal });
  return (result?.[key] as { name: string }[] | undefined)?.map(({ name }) => String(name)) ?? [];
}
