/** Writes Python text: names, literals, docstrings. */

const LINE = 100;

/** create_sandbox for CreateSandbox. */
export function snake(pascal: string): string {
  return pascal.replace(/(?<!^)([A-Z])/g, '_$1').toLowerCase();
}

/** RecentCommands for recent_commands. */
export function pascal(snake: string): string {
  return snake.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** A value of JSON as Python writes it. */
export function literal(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const fields = Object.entries(value as object).map(
    ([name, field]) => `${literal(name)}: ${literal(field)}`,
  );
  return `{${fields.join(', ')}}`;
}

/** A string on one line, as documentation of what stands before it. */
export function quoted(text: string): string {
  return `"""${escaped(text)}"""`;
}

/** A docstring of several paragraphs, each a list of lines. */
export function docstring(first: string, sections: string[][], indent: string): string {
  const paragraphs = [wrap(escaped(first), indent, indent), ...sections.map((lines) => lines.join('\n'))];
  if (sections.length === 0 && !paragraphs[0]?.includes('\n')) {
    return `${indent}"""${paragraphs[0]?.trimStart()}"""`;
  }
  return `${indent}"""${paragraphs.join('\n\n').trimStart()}\n${indent}"""`;
}

/** `name: text` of a section, with what does not fit further in. */
export function entry(name: string, text: string, indent: string): string {
  return wrap(`${name}: ${escaped(text)}`, `${indent}    `, `${indent}        `);
}

function wrap(text: string, indent: string, further: string): string {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(/\s+/)) {
    if (line.trim() !== '' && line.length + word.length + 1 > LINE) {
      lines.push(line);
      line = further;
    }
    line = line.trim() === '' ? line + word : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
}

/** Nothing in a description ends the string that it stands in, or is read as an escape. */
function escaped(text: string): string {
  const safe = text.replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"');
  return safe.endsWith('"') ? `${safe.slice(0, -1)}\\"` : safe;
}
