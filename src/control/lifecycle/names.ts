/** Generated names of sandboxes: two words and a number. */
import { randomInt } from 'node:crypto';

const FIRST = [
  'amber', 'brisk', 'calm', 'clear', 'coral', 'dusty', 'early', 'fair', 'gentle', 'golden', 'green', 'hidden',
  'keen', 'light', 'lunar', 'mild', 'misty', 'noble', 'north', 'pale', 'plain', 'quick', 'quiet', 'rapid',
  'round', 'royal', 'silver', 'small', 'solar', 'still', 'swift', 'tidal', 'warm', 'west', 'wide', 'young',
]; // biome-ignore format: a list of words
const SECOND = [
  'atoll', 'bay', 'beach', 'breeze', 'cape', 'cliff', 'cove', 'creek', 'current', 'delta', 'dune', 'fjord',
  'gull', 'harbor', 'haven', 'heron', 'island', 'kelp', 'lagoon', 'marsh', 'oasis', 'ocean', 'otter', 'pearl',
  'pebble', 'reef', 'ridge', 'river', 'sail', 'sand', 'shell', 'shore', 'spring', 'stone', 'tide', 'wave',
]; // biome-ignore format: a list of words

/** Draws from about 13 million names; the caller tries another when one is taken. */
export function generateName(): string {
  return `${pick(FIRST)}-${pick(SECOND)}-${randomInt(1, 10_000)}`;
}

function pick(words: string[]): string {
  return words[randomInt(words.length)] ?? 'sand';
}
