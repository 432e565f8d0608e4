/** Walks the projection of a find: fields in or out, parts of lists, and expressions. */
import { isPlainObject, type PlainObject } from './data.ts';
import { checkExpression } from './expression.ts';
import { checkFilterDocument } from './filter.ts';
import { checkPath } from './order.ts';
import { type Place, refused, within } from './place.ts';
import { noVariables } from './scope.ts';

export function checkProjectionDocument(projection: PlainObject, place: Place): void {
  for (const key of Object.keys(projection)) {
    const here = within(place, key);
    checkProjectedPath(key, here);
    checkProjected(projection[key], here);
  }
}

function checkProjected(value: unknown, place: Place): void {
  const [first, ...others] = isPlainObject(value) ? Object.keys(value) : [];
  if (!isPlainObject(value)) {
    checkExpression(value, place, noVariables);
  } else if (first === undefined) {
    throw refused(place, 'is empty.', 'Use 1 to include the field and 0 to leave it out.');
  } else if (!first.startsWith('$')) {
    checkProjectionDocument(value, place);
  } else if (first === '$elemMatch' && others.length === 0) {
    checkFilterDocument(value[first], within(place, first), { scope: noVariables, stands: 'later' });
  } else {
    // Numeric `$slice` is the projection's own, and is also a valid expression.
    checkExpression(value, place, noVariables);
  }
}

/** `list.$` names the element that matched the filter. */
function checkProjectedPath(path: string, place: Place): void {
  checkPath(path.endsWith('.$') ? path.slice(0, -2) : path, place);
}
