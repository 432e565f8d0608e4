/**
 * Parses Dockerfiles by dockerfile-ast, which knows where instructions, flags and heredocs begin and end. It keeps comments
 * between continued lines and loses spaces in JSON, so lines are joined, and JSON is read, by others than it.
 */
import { DockerfileParser, type Instruction } from 'dockerfile-ast';
import type { Dockerfile, DockerfileInstruction, Heredoc } from '../control/ports/index.ts';
import { invalidArgument } from '../model/errors.ts';
import { limits } from '../model/limits.ts';

/** Parts that the library has for some instructions alone. */
interface Parts {
  getFlags?(): { getName(): string; getValue(): string | null }[];
}

export function parseDockerfile(text: string): Dockerfile {
  const clean = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const parsed = DockerfileParser.parse(clean);
  const escapeCharacter = parsed.getEscapeCharacter();
  const lines = clean.split('\n');
  const instructions = parsed.getInstructions();
  if (instructions.length > limits.build.instructions) {
    const detail = `The Dockerfile has ${instructions.length} instructions; at most ${limits.build.instructions} are taken.`;
    throw invalidArgument('file', detail, 'Join what belongs together, or build an earlier part on its own.');
  }
  return {
    escapeCharacter,
    instructions: instructions.map((one) => instructionOf(one, lines, escapeCharacter)),
  };
}

function instructionOf(parsed: Instruction, lines: string[], escapeCharacter: string): DockerfileInstruction {
  const { start, end } = parsed.getRange();
  const raw = parsed.getRawArgumentsContent() ?? '';
  const keyword = parsed.getKeyword().toUpperCase();
  const flags = ((parsed as Parts).getFlags?.() ?? []).map((flag) => ({
    name: flag.getName(),
    value: flag.getValue(),
  }));
  const isHeredoc = keyword === 'RUN' || keyword === 'COPY' || keyword === 'ADD';
  const first = raw.split('\n')[0] ?? '';
  const heredocs = isHeredoc ? heredocsOf(first, lines, start.line, end.line) : [];
  const joined = joinedLines(raw.split('\n'), escapeCharacter);
  return { line: start.line + 1, keyword, flags, text: heredocs.length > 0 ? first : joined, heredocs, raw };
}

/** Joins continued lines; comments and empty lines between them are none of the instruction. */
function joinedLines(lines: string[], escapeCharacter: string): string {
  const continued = new RegExp(`\\${escapeCharacter}[ \\t]*$`);
  const kept = lines.filter((line, at) => at === 0 || !/^\s*(#|$)/.test(line));
  return kept
    .map((line) => line.replace(continued, ''))
    .join('')
    .trim();
}

/** Heredocs that the first line opens, in their order: each has the lines up to the one that is its name. */
function heredocsOf(first: string, lines: string[], startLine: number, endLine: number): Heredoc[] {
  const heredocs: Heredoc[] = [];
  let at = startLine + 1;
  for (const [, dash, quote, name = ''] of first.matchAll(/(?<![<\d])\d*<<(-?)(["']?)([A-Za-z_][\w.]*)\2/g)) {
    const content: string[] = [];
    const untabbed = (line: string) => (dash ? line.replace(/^\t+/, '') : line);
    while (at <= endLine && untabbed(lines[at] ?? '') !== name) content.push(untabbed(lines[at++] ?? ''));
    if (at > endLine) {
      throw invalidArgument(
        'file',
        `Line ${startLine + 1} opens the heredoc '${name}', and no line ends it.`,
        `Write ${name} alone on the line after its content.`,
      );
    }
    at++;
    heredocs.push({ name, content: content.map((line) => `${line}\n`).join(''), expands: quote === '' });
  }
  return heredocs;
}
