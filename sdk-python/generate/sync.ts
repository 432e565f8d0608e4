/** Makes the client for threads that wait from the one for asyncio, so that there is one text of both. */

const changes: [RegExp, string][] = [
  [/\basync (def|for|with)\b/g, '$1'],
  [/\bawait /g, ''],
  [/\bAwaitable\[([\w.]+)\]/g, '$1'],
  [/\bAsyncGenerator\[(\w+), None\]/g, 'Generator[$1, None, None]'],
  [/\bAsync(?=[A-Z])/g, ''],
  [/\b_async\b/g, '_sync'],
  [/\basync_(client|handle)\b/g, '$1'],
  [/\ba(close|closing|iter_raw)\b/g, '$1'],
  [/__a(iter|enter|exit)__/g, '__$1__'],
];

/** @param source Name of the file that the text is in, for the reader. */
export function toSync(text: string, source: string): string {
  const sync = changes.reduce((changed, [from, to]) => changed.replace(from, to), text);
  return marked(
    sync.replace(/^from collections\.abc import (.*)$/m, (_, names: string) => imports(names)),
    source,
  );
}

function imports(names: string): string {
  const left = new Set(names.split(', ').filter((name) => name !== 'Awaitable'));
  return `from collections.abc import ${[...left].toSorted().join(', ')}`;
}

/** After the first docstring, which is that of the module. */
function marked(text: string, source: string): string {
  const end = text.indexOf('"""\n', 3) + 4;
  return `${text.slice(0, end)}# Made from ${source}.\n${text.slice(end)}`;
}
