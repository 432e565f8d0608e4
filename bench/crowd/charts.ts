/**
 * Draws small charts beside each other as one SVG, readable on light and dark ground. All axes begin at 0, so that a
 * height is an amount; the horizontal one is the same for all.
 */

export interface Chart {
  title: string;
  points: readonly { x: number; y: number }[];
}

const COLUMNS = 3;
const CELL = { width: 300, height: 200 };
/** Of the area of a chart within its cell. */
const AREA = { left: 52, top: 34, width: 228, height: 110 };
const TICKS = 4;

const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #333; }
  .title { font-weight: 600; }
  .tick { font-size: 11px; fill: #666; }
  .grid { stroke: #ddd; }
  .axis { stroke: #888; }
  .line { stroke: #0b62c4; stroke-width: 2; fill: none; }
  .point { fill: #0b62c4; }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd; }
    .tick { fill: #aaa; }
    .grid { stroke: #444; }
    .axis { stroke: #888; }
    .line { stroke: #6cb2ff; }
    .point { fill: #6cb2ff; }
  }
`;

/** Each chart needs a point; `xTitle` stands below every horizontal axis. */
export function drawCharts(charts: readonly Chart[], xTitle: string): string {
  const width = COLUMNS * CELL.width;
  const height = Math.ceil(charts.length / COLUMNS) * CELL.height;
  const cells = charts.map((chart, index) => {
    const left = (index % COLUMNS) * CELL.width;
    const top = Math.floor(index / COLUMNS) * CELL.height;
    return `<g transform="translate(${left} ${top})">\n${drawChart(chart, xTitle)}\n</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${charts.map(({ title }) => asText(title)).join('; ')}: by ${asText(xTitle)}</title>`,
    `<style>${STYLE}</style>`,
    ...cells,
    '</svg>\n',
  ].join('\n');
}

function drawChart({ title, points }: Chart, xTitle: string): string {
  const xTicks = ticksUpTo(Math.max(...points.map(({ x }) => x)));
  const yTicks = ticksUpTo(Math.max(...points.map(({ y }) => y)));
  const x = (value: number) => AREA.left + (value / (xTicks.at(-1) ?? 1)) * AREA.width;
  const y = (value: number) => AREA.top + AREA.height - (value / (yTicks.at(-1) ?? 1)) * AREA.height;
  const right = AREA.left + AREA.width;
  const bottom = AREA.top + AREA.height;
  const places = points.map((point) => ({ x: round(x(point.x)), y: round(y(point.y)) }));
  return [
    `<text class="title" x="${AREA.left}" y="18">${asText(title)}</text>`,
    ...yTicks.map((tick) => {
      const level = round(y(tick));
      const kind = tick === 0 ? 'axis' : 'grid';
      const line = `<line class="${kind}" x1="${AREA.left}" y1="${level}" x2="${right}" y2="${level}"/>`;
      return `${line}<text class="tick" x="${AREA.left - 6}" y="${level + 4}" text-anchor="end">${tick}</text>`;
    }),
    ...xTicks.map(
      (tick) =>
        `<text class="tick" x="${round(x(tick))}" y="${bottom + 16}" text-anchor="middle">${tick}</text>`,
    ),
    `<text class="tick" x="${AREA.left + AREA.width / 2}" y="${bottom + 34}" text-anchor="middle">${asText(xTitle)}</text>`,
    `<polyline class="line" points="${places.map((place) => `${place.x},${place.y}`).join(' ')}"/>`,
    ...places.map((place) => `<circle class="point" cx="${place.x}" cy="${place.y}" r="3"/>`),
  ].join('\n');
}

/** Returns 0 and at most four round numbers, the last of them not below the largest value. */
export function ticksUpTo(largest: number): number[] {
  if (!(largest > 0)) return [0, 1];
  const power = 10 ** Math.floor(Math.log10(largest / TICKS));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((each) => each * TICKS >= largest);
  const chosen = step ?? 10 * power;
  const count = Math.ceil(largest / chosen);
  return Array.from({ length: count + 1 }, (_, index) => Number((index * chosen).toPrecision(6)));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function asText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
