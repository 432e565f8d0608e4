/** Shells for completion: the script of each, and the line as bash has it. */

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
