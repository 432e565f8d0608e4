/** Charts of a run as Daytona's clients read them. */

type Fields = Record<string, unknown>;

const types: Partial<Record<string, string>> = { box: 'box_and_whisker', composite: 'composite_chart' };

export function chartsOf(charts: unknown): Fields[] {
  return (charts as Fields[]).map(chartOf);
}

function chartOf({ type, elements, ...chart }: Fields): Fields {
  const of = type === 'composite' ? chartOf : elementOf;
  return { ...chart, type: types[String(type)] ?? type, elements: (elements as Fields[]).map(of) };
}

/** Their models take texts for values, and numbers alone for points. */
function elementOf({ q1, q3, value, points, ...element }: Fields): Fields {
  return {
    ...element,
    ...(q1 === undefined ? {} : { first_quartile: q1, third_quartile: q3 }),
    ...(value === undefined ? {} : { value: String(value) }),
    ...(Array.isArray(points) ? { points: points.filter(isOfNumbers) } : {}),
  };
}

function isOfNumbers(point: unknown): boolean {
  return Array.isArray(point) && point.every((coordinate) => typeof coordinate === 'number');
}
