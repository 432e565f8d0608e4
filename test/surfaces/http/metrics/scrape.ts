/** Reads the text that Prometheus gets, as strictly as its format is. */

export interface Scraped {
  /** By the name of a metric, without the suffix of a histogram. */
  types: Map<string, string>;
  help: Map<string, string>;
  samples: ScrapedSample[];
}

export interface ScrapedSample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;

export function parseScrape(text: string): Scraped {
  const scraped: Scraped = { types: new Map(), help: new Map(), samples: [] };
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const comment = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line);
    if (comment) {
      const [, kind, name = '', rest = ''] = comment;
      const known = kind === 'HELP' ? scraped.help : scraped.types;
      if (known.has(name)) throw new Error(`twice: ${line}`);
      known.set(name, rest);
    } else scraped.samples.push(sampleOf(line));
  }
  return scraped;
}

function sampleOf(line: string): ScrapedSample {
  const [, name, labels = '', value] = LINE.exec(line) ?? [];
  if (name === undefined) throw new Error(`no sample: ${line}`);
  const number = value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value);
  if (Number.isNaN(number)) throw new Error(`no number: ${line}`);
  return { name, labels: labelsOf(labels), value: number };
}

function labelsOf(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  let at = 0;
  while (at < text.length) {
    LABEL.lastIndex = at;
    const match = LABEL.exec(text);
    if (!match) throw new Error(`no labels: ${text}`);
    found[match[1] ?? ''] = match[2] ?? '';
    at = LABEL.lastIndex;
  }
  return found;
}

/** Returns the value of the sample with exactly these labels. */
export function sampleValue(
  { samples }: Scraped,
  name: string,
  labels: Record<string, string> = {},
): number | undefined {
  const wanted = JSON.stringify(Object.entries(labels).toSorted());
  return samples.find(
    (one) => one.name === name && JSON.stringify(Object.entries(one.labels).toSorted()) === wanted,
  )?.value;
}
