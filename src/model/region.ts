/** Regions of the service: `--region`. The first of several is its own, the others are listed beside it. */
import { invalidArgument } from './errors.ts';
import { limits } from './limits.ts';

export interface Region {
  id: string;
  name: string;
  location: { country: string; city: string };
}

/** The service's own region comes first. */
export type Regions = readonly [Region, ...Region[]];

/**
 * Marks a place that the operator has not named. The service cannot know where its host is, and a made-up word would
 * read like the name of a country.
 */
const NOT_SAID = '';

/** The service's own region, until an operator describes it. */
export const localRegion: Region = {
  id: 'local',
  name: 'Local',
  location: { country: NOT_SAID, city: NOT_SAID },
};

const EXAMPLE =
  'For example id=eu-central,name=Frankfurt,city=Frankfurt,country=DE; semicolons between several.';

export function isDescribed({ location }: Region): boolean {
  return location.country !== NOT_SAID || location.city !== NOT_SAID;
}

/** Returns `Frankfurt, DE`, or the part of it that is known. */
export function placeOf({ location: { city, country } }: Region): string {
  return [city, country].filter((part) => part !== NOT_SAID).join(', ');
}

/** Throws `invalid_argument` naming the flag. An empty text gives the one local region. */
export function parseRegions(flag: string, text: string): Regions {
  const [own, ...others] = text
    .split(';')
    .filter((entry) => entry.trim() !== '')
    .map((entry) => parseRegion(flag, entry));
  if (!own) return [localRegion];
  const regions: Regions = [own, ...others];
  const ids = new Set(regions.map(({ id }) => id));
  if (ids.size < regions.length) throw refused(flag, 'names a region twice');
  if (regions.length > limits.region.count)
    throw refused(flag, `takes at most ${limits.region.count} regions`);
  return regions;
}

function parseRegion(flag: string, entry: string): Region {
  const fields = new Map<string, string>();
  for (const part of entry.split(',')) {
    const [, key = '', value = ''] = /^\s*(id|name|city|country)\s*=\s*(.*?)\s*$/s.exec(part) ?? [];
    if (key === '' || fields.has(key)) {
      throw refused(
        flag,
        `consists of id, name, city and country, each once, and '${part.trim()}' was given`,
      );
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is refused.
    if (value === '' || value.length > limits.region.textChars || /[\u0000-\u001f\u007f]/.test(value)) {
      throw refused(flag, `has a ${key} of 1 to ${limits.region.textChars} printable characters`);
    }
    fields.set(key, value);
  }
  const id = fields.get('id') ?? '';
  if (!/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(id)) {
    throw refused(flag, `has an id of 1 to 63 lower-case letters, digits and hyphens, and '${id}' was given`);
  }
  const location = { country: fields.get('country') ?? NOT_SAID, city: fields.get('city') ?? NOT_SAID };
  return { id, name: fields.get('name') ?? id, location };
}

function refused(flag: string, rule: string) {
  return invalidArgument(flag, `${flag} ${rule}.`, EXAMPLE);
}
