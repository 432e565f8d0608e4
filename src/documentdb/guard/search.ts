/** Walks search queries: their own language has no operators, but may contain a filter. */
import { isPlainObject, type PlainObject } from './data.ts';
import { checkFilterDocument } from './filter.ts';
import { type Place, refused, within } from './place.ts';
import { lookAlike, looksLikeOperator, unknownKey } from './refusals.ts';
import type { Scope } from './scope.ts';

export function checkSearch(search: PlainObject, place: Place, scope: Scope): void {
  for (const key of Object.keys(search)) {
    const here = within(place, key);
    if (key.startsWith('$')) throw unknownKey(key, here, 'a search', ['filter']);
    if (looksLikeOperator(key)) throw lookAlike(key, here);
    if (forTheServer.includes(key)) {
      throw refused(here, 'is for the server itself.', 'Use documented options only.');
    }
    checkPart(key, search[key], here, scope);
  }
}

/** Added by routers when they pass a search on to the servers behind them. */
const forTheServer: readonly string[] = [
  'mongotQuery',
  'protocolVersion',
  'metadataMergeProtocolVersion',
  'view',
];

function checkPart(key: string, value: unknown, place: Place, scope: Scope): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) checkPart('', item, within(place, index), scope);
  } else if (isPlainObject(value)) {
    if (key === 'filter') checkFilterDocument(value, place, { scope, stands: 'later' });
    else checkSearch(value, place, scope);
  }
}
