/** Data of figures as E2B's clients read them: other names, and the unit that stands behind the label of an axis. */
type Fields = Record<string, unknown>;

const types = new Map([
  ['box', 'box_and_whisker'],
  ['composite', 'superchart'],
]);

export function chartOf({ type, elements, ...rest }: Fields): Fields {
  const parts = Array.isArray(elements) ? (elements as Fields[]) : [];
  const named = { type: types.get(String(type)) ?? type, title: rest['title'] ?? null };
  if (type === 'composite') return { ...named, elements: parts.map(chartOf) };
  return {
    ...{ ...rest, ...named },
    ...{ x_unit: unitIn(rest['x_label']), y_unit: unitIn(rest['y_label']) },
    elements: type === 'box' ? parts.map(quartiles) : parts,
  };
}

/** Returns `Hz` of `Amplitude (Hz)`. */
function unitIn(label: unknown): string | null {
  return /\(([^()]{1,60})\)$/.exec(String(label ?? '').trimEnd())?.[1] ?? null;
}

function quartiles({ q1, q3, ...rest }: Fields): Fields {
  return { ...rest, first_quartile: q1, third_quartile: q3 };
}
