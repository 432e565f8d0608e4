/** Walks the outputs of `$group`, `$bucket`, `$setWindowFields` and `$fill`. */
import { isPlainObject, type PlainObject } from './data.ts';
import { checkExpression, checkOperator } from './expression.ts';
import { accumulators, windowFunctions } from './expression-operators.ts';
import { checkPath } from './order.ts';
import { type Place, refused, type Scope, within } from './place.ts';
import { unknownKey } from './refusals.ts';

export function checkGroup(group: PlainObject, place: Place, scope: Scope): void {
  if (!Object.hasOwn(group, '_id')) {
    throw refused(
      place,
      'has no _id.',
      'Group by an expression in _id, or by null for all documents together.',
    );
  }
  const { _id, ...fields } = group;
  checkExpression(_id, within(place, '_id'), scope);
  checkAccumulators(fields, place, scope);
}

export function checkAccumulators(fields: PlainObject, place: Place, scope: Scope): void {
  for (const key of Object.keys(fields)) {
    const here = within(place, key);
    checkPath(key, here);
    const value = operatorOf(fields[key], here, '{"$sum": 1}');
    checkOperator(value, here, scope, accumulators, 'an accumulator');
  }
}

export function checkWindows(fields: PlainObject, place: Place, scope: Scope): void {
  for (const key of Object.keys(fields)) {
    const here = within(place, key);
    checkPath(key, here);
    const { window, ...operator } = operatorOf(fields[key], here, '{"$sum": "$amount", "window": …}');
    checkOperator(operator, here, scope, windowFunctions, 'a function of windows');
    if (window !== undefined) checkWindow(window, within(here, 'window'));
  }
}

export function checkFills(fields: PlainObject, place: Place, scope: Scope): void {
  const known = ['value', 'method'];
  for (const key of Object.keys(fields)) {
    const here = within(place, key);
    checkPath(key, here);
    const fill = operatorOf(fields[key], here, '{"method": "linear"} or {"value": …}');
    for (const option of Object.keys(fill)) {
      const there = within(here, option);
      if (!known.includes(option)) throw unknownKey(option, there, 'an output of $fill', known);
      checkExpression(fill[option], there, scope);
    }
  }
}

/** Checks window bounds, which are words and numbers. */
function checkWindow(window: unknown, place: Place): void {
  const known = ['documents', 'range', 'unit'];
  const bounds = operatorOf(window, place, '{"documents": ["unbounded", "current"]}');
  for (const key of Object.keys(bounds)) {
    if (!known.includes(key)) throw unknownKey(key, within(place, key), 'a window', known);
  }
}

function operatorOf(value: unknown, place: Place, example: string): PlainObject {
  if (isPlainObject(value)) return value;
  throw refused(place, 'must be an object.', `Write it as ${example}.`);
}
