/** What is told of values that were given as strings, one line for all that went the same way. */
import type { Reading } from './text-values.ts';
import { listed, listedAs, named, show } from './values.ts';

export interface Happening {
  path: string;
  operator: string;
  text: string;
  read: Reading;
  /** `added`: asked for beside the string. `left`: the string alone is asked for, since both is impossible here. */
  outcome: 'replaced' | 'added' | 'left';
}

export function tellCoercions(happenings: readonly Happening[], parameter: string): string[] {
  const groups = Object.groupBy(happenings, ({ outcome, read }) => `${outcome} ${read.type}`);
  return Object.values(groups).flatMap((group = []) => {
    const [first] = group;
    return first ? [`${parameter}: ${told(group, first)}`] : [];
  });
}

function told(group: readonly Happening[], { outcome, read: { type } }: Happening): string {
  const paths = unique(group.map(({ path }) => named(path)));
  // By text, since there may be very many, and only a few are written out.
  const values = [...new Map(group.map(({ text, read }) => [text, read.value])).values()];
  const fields = listed(paths);
  const strings = values.length > 1 ? 'strings' : 'a string';
  const were = values.length > 1 ? 'were' : 'was';
  if (outcome === 'replaced') {
    const given = `${fields} ${paths.length > 1 ? 'were' : 'was'} given as ${strings}`;
    const hold = paths.length > 1 ? 'the fields hold' : 'the field holds';
    return `${given}; ${hold} ${type}, so ${listedAs(values, show)} ${were} used.${remarks(group)}`;
  }
  const both = `${fields} ${paths.length > 1 ? 'hold' : 'holds'} both strings and ${type} values`;
  if (outcome === 'added') {
    return `${both}, so ${listedAs(values, show)} ${were} asked for beside the ${strings.replace('a ', '')}.${remarks(group)}`;
  }
  const operators = unique(group.map(({ operator }) => operator));
  const compare = operators.length > 1 ? 'compare' : 'compares';
  return `${both}, and ${listed(operators)} ${compare} with one type only: the ${strings.replace('a ', '')} stayed. Use ${listedAs(values, show)} for the ${type} values.`;
}

/** How a date was read where its text leaves that open. */
function remarks(group: readonly Happening[]): string {
  const days = group.filter(({ read }) => read.dayOnly);
  const said: string[] = [];
  if (group.some(({ read }) => read.zoneAssumed)) said.push(' A time without an offset was taken as UTC.');
  if (days.length > 0) said.push(' A date alone means its midnight, UTC.');
  if (days.some(({ operator }) => operator === '$lte')) {
    said.push(' $lte leaves out the rest of that day; $lt of the next day has it.');
  }
  if (days.some(({ operator }) => operator === '$eq')) {
    said.push(' For the whole day use $gte of it and $lt of the next.');
  }
  return said.join('');
}

function unique(items: readonly string[]): string[] {
  return [...new Set(items)];
}
