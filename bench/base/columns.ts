/** Sets a table as text: columns aligned, figures with three digits. */

/** Puts the lines below the header and a rule; columns of figures are aligned to the right. */
export function alignColumns(
  header: readonly string[],
  lines: readonly string[][],
  isFigure: (column: number) => boolean,
): string {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...lines.map((line) => line[column]?.length ?? 0)),
  );
  const set = (texts: readonly string[]) =>
    texts
      .map((text, column) =>
        isFigure(column) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [set(header), set(widths.map((width) => '-'.repeat(width))), ...lines.map(set)].join('\n');
}

/** Empty for what was not measured. */
export function number(value: number | null | undefined): string {
  if (value === null || value === undefined) return '';
  const size = Math.abs(value);
  return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0);
}
