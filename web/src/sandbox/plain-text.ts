/** Removes control sequences for terminals from a program's output. */

// Sequences of ECMA-48: control sequences, then strings up to their end, then short escapes.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const ESCAPES = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)|\x1b[ -/]*[0-~]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

export function plainText(output: string): string {
  const text = output.replace(ESCAPES, '').replaceAll('\r\n', '\n');
  // A line that is written over shows its last state, as a terminal does.
  const lines = text.includes('\r')
    ? text.split('\n').map((line) => line.slice(line.lastIndexOf('\r', line.length - 2) + 1))
    : null;
  return (lines?.join('\n') ?? text).replaceAll('\r', '').replace(CONTROLS, '');
}
