/** What a program has printed, as tools show it. Where the streams are not known apart, there is only `output`. */

export interface Printed {
  output: string;
  stdout?: string | undefined;
  stderr?: string | undefined;
}

/** For a terminal or a pipe: as it is. @param stand What is to be said behind it; null for nothing. */
export function asPrinted(output: string, stand: string | null): string {
  if (stand === null) return output;
  const gap = output === '' || output.endsWith('\n') ? '' : '\n';
  return `${output}${gap}[${stand}]`;
}

/**
 * For a text, and last how it stands. Where both streams have something they stand apart; where they came interleaved,
 * as they came first.
 */
export function printedText(
  printed: Printed,
  stand: readonly string[],
  more: readonly string[] = [],
): string {
  return [...shown(printed), ...more, `[${[...stand, ...onlyStream(printed)].join(', ')}]`].join('\n');
}

function shown({ output, stdout = '', stderr = '' }: Printed): string[] {
  if (output === '') return ['(no output)'];
  if (stdout === '' || stderr === '') return lines(output);
  const apart = ['stdout:', ...lines(stdout), 'stderr:', ...lines(stderr)];
  const ordered = output === stdout + stderr || output === stderr + stdout;
  return ordered ? apart : ['as it came:', ...lines(output), ...apart];
}

/** Without the newline that ends the last line; one that is missing is named. */
function lines(text: string): string[] {
  return text.endsWith('\n') ? [text.slice(0, -1)] : [text, '[no newline at the end]'];
}

function onlyStream({ stdout, stderr }: Printed): string[] {
  if (stdout && stderr === '') return ['all of it on stdout'];
  return stderr && stdout === '' ? ['all of it on stderr'] : [];
}
