/** `sandhaven completion`: the script of a shell, and the answers to its questions. */
import type { Tool } from '../../../catalog/base/tool.ts';
import { listSandboxes } from '../../../catalog/sandboxes/views.ts';
import { listSnapshots } from '../../../catalog/snapshots/snapshots.ts';
import { limits } from '../../../model/limits.ts';
import { createClient } from '../client.ts';
import { connectionOf } from '../connection.ts';
import { readContexts } from '../contexts.ts';
import { commonFlags, flagIsSet, parseKnownFlags, usageError } from '../flags.ts';
import { commonHelp } from '../help.ts';
import type { CliIo, Command } from '../io.ts';
import type { Named } from '../shape.ts';
import { complete, type FindNames, type Found, type Located } from './complete.ts';

// Shells for completion: the script of each, and the line as bash has it.

/** The line up to the cursor goes over as it is, since bash cuts words at : and =. */
const bash = `# Completion of sandhaven for bash: source <(sandhaven completion bash)
_sandhaven() {
  local answer candidate
  COMPREPLY=()
  {
    IFS= read -r answer || return 0
    while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done
  } < <("$1" completion line "$COMP_WORDBREAKS" "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null </dev/null)
  [[ $answer == *joined* ]] && compopt -o nospace 2>/dev/null
  [[ $answer == *files* ]] && compopt -o default 2>/dev/null
  return 0
}
complete -F _sandhaven sandhaven
`;

const zsh = `#compdef sandhaven
# Completion of sandhaven for zsh: source <(sandhaven completion zsh), after compinit.
_sandhaven() {
  local -a answer names space
  answer=("\${(@f)$("\${words[1]}" completion words -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null </dev/null)}")
  names=("\${(@)answer[2,-1]}")
  [[ $answer[1] == *joined* ]] && space=(-S '')
  (( $#names )) && compadd "\${space[@]}" -a names
  [[ $answer[1] == *files* ]] && _files
  return 0
}
compdef _sandhaven sandhaven
`;

const fish = `# Completion of sandhaven for fish: sandhaven completion fish | source
function __sandhaven_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l answer ($words[1] completion words -- $words[2..-1] 2>/dev/null </dev/null)
  test (count $answer) -gt 1; and printf '%s\\n' $answer[2..-1]
  string match -q '*files*' -- $answer[1]; and __fish_complete_path (commandline -ct)
end
complete -c sandhaven -f -a '(__sandhaven_complete)'
`;

export const scripts = { bash, zsh, fish } as const;

/** The line as bash has it: words with quotes on the way in, words that bash cannot take for more on the way out. */
interface BashLine {
  /** As the program would get them; the last one is being typed. */
  words: string[];
  /** Quotation mark that is open at the end. */
  quote: '"' | "'" | null;
  /** Part of the last word that bash keeps: it replaces only what follows the last of its breaks. */
  kept: string;
}

/** @param breaks COMP_WORDBREAKS. */
export function readBashLine(line: string, breaks: string): BashLine {
  const words = [''];
  let quote: BashLine['quote'] = null;
  let kept = '';
  let isWord = false;
  const add = (text: string) => {
    words[words.length - 1] += text;
    isWord = true;
  };
  for (let at = 0; at < line.length; at++) {
    const character = line[at] ?? '';
    if (quote !== null) {
      if (character === quote) quote = null;
      else if (quote === '"' && character === '\\' && /["\\$`]/.test(line[at + 1] ?? ''))
        add(line[++at] ?? '');
      else add(character);
    } else if (character === '\\') add(line[++at] ?? '');
    else if (character === '"' || character === "'") {
      quote = character;
      isWord = true;
    } else if (/\s/.test(character)) {
      if (isWord) words.push('');
      isWord = false;
      kept = '';
    } else {
      add(character);
      if (/[:=]/.test(character) && breaks.includes(character)) kept = words.at(-1) ?? '';
    }
  }
  return { words, quote, kept };
}

/** Returns the candidates as bash is to insert them. A name of the service must never become a command. */
export function forBash(candidates: readonly string[], { quote, kept }: BashLine): string[] {
  return candidates
    .filter((candidate) => candidate.startsWith(kept))
    .map((candidate) => candidate.slice(kept.length))
    .flatMap((rest) => {
      if (quote === null) return [rest.replace(/[^\w@%+=:,./-]/g, '\\$&')];
      return /^[\w@%+=:,./ -]*$/.test(rest) ? [rest] : [];
    });
}

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
