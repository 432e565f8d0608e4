/** The line as bash has it: words with quotes on the way in, words that bash cannot take for more on the way out. */

export interface BashLine {
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
