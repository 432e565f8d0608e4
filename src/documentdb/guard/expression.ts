/** Walks aggregation expressions: strings that name variables, operators and their arguments, at any depth. */

import { limits } from '../../model/limits.ts';
import { nearest } from '../../model/nearest.ts';
import { Code, DBRef } from '../bson/library.ts';
import { isPlainObject, type PlainObject } from './data.ts';
import {
  type Argument,
  expressionOperators,
  metaNames,
  type Named,
  type Operators,
  type Slot,
  systemVariables,
} from './expression-operators.ts';
import { checkOrder } from './order.ts';
import {
  isKnown,
  knownNames,
  noVariables,
  type Place,
  quoted,
  refused,
  type Scope,
  within,
  withVariables,
} from './place.ts';
import { lookAlike, looksLikeOperator, unknownKey, unknownOperator } from './refusals.ts';

export function checkExpression(value: unknown, place: Place, scope: Scope): void {
  if (typeof value === 'string') {
    checkVariable(value, place, scope);
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) checkExpression(item, within(place, index), scope);
  } else if (isPlainObject(value)) {
    checkObject(value, place, scope);
  } else if (value instanceof Code || value instanceof DBRef) {
    throw refused(place, 'is no value that expressions work with.', 'Put it into {"$literal": …}.');
  }
}

/** Checks the one operator of `{"$operator": argument}`, in a place that takes nothing else. */
export function checkOperator(
  value: PlainObject,
  place: Place,
  scope: Scope,
  known: Operators,
  kind: string,
): void {
  const [first, ...others] = Object.keys(value);
  if (first === undefined) throw refused(place, `is empty, and must hold ${kind}.`, 'Name one operator.');
  const argument = known.get(first);
  if (argument === undefined) throw unknownOperator(first, within(place, first), kind, known.keys());
  if (others.length > 0) {
    throw refused(
      within(place, others[0] ?? ''),
      `stands beside ${first}, and an operator stands alone.`,
      'Nest one inside the other, or give each a field of its own.',
    );
  }
  checkArgument(first, argument, value[first], within(place, first), scope);
}

/** Returns the variables that an object names. */
export function variableNames(value: PlainObject, place: Place): string[] {
  const names = Object.keys(value);
  for (const name of names) checkVariableName(name, within(place, name));
  return names;
}

function checkObject(value: PlainObject, place: Place, scope: Scope): void {
  const keys = Object.keys(value);
  if (keys[0]?.startsWith('$')) {
    checkOperator(value, place, scope, expressionOperators, 'an operator of expressions');
    return;
  }
  for (const key of keys) {
    const here = within(place, key);
    if (key.startsWith('$')) {
      throw refused(
        here,
        'stands among fields, and an operator stands alone.',
        'Give it a field of its own.',
      );
    }
    if (looksLikeOperator(key)) throw lookAlike(key, here);
    checkExpression(value[key], here, scope);
  }
}

function checkArgument(name: string, argument: Argument, value: unknown, place: Place, scope: Scope): void {
  if (argument === 'literal') return;
  if (argument === 'expression') checkExpression(value, place, scope);
  else if (argument === 'meta') checkMeta(value, place);
  else if (argument === 'let') checkLet(value, place, scope);
  else if (isPlainObject(value) && !Object.keys(value)[0]?.startsWith('$')) {
    checkNamed(name, argument, value, place, scope);
  } else if (argument.orExpression) checkExpression(value, place, scope);
  else {
    const names = [...argument.slots.keys()].join(', ');
    throw refused(place, 'must be an object.', `${name} takes an object of ${names}.`);
  }
}

function checkNamed(name: string, argument: Named, value: PlainObject, place: Place, scope: Scope): void {
  const bound = boundIn(argument, value, scope);
  for (const key of Object.keys(value)) {
    const here = within(place, key);
    const slot = argument.slots.get(key);
    if (slot === undefined) throw unknownKey(key, here, name, argument.slots.keys());
    checkSlot(slot, value[key], here, slot === 'bound' ? bound : scope);
  }
}

function boundIn({ slots, binds }: Named, value: PlainObject, scope: Scope): Scope {
  const given = [...slots].filter(([key, slot]) => slot === 'variable' && Object.hasOwn(value, key));
  const names = given.map(([key]) => value[key]).filter((name) => typeof name === 'string');
  return withVariables(scope, given.length > 0 ? names : binds);
}

function checkSlot(slot: Slot, value: unknown, place: Place, scope: Scope): void {
  if (slot === 'variable') checkVariableName(value, place);
  else if (slot === 'branches') checkBranches(value, place, scope);
  // One direction orders plain values; an object orders documents by their fields.
  else if (slot === 'order' && isPlainObject(value)) checkOrder(value, place);
  else checkExpression(value, place, slot === 'order' ? noVariables : scope);
}

function checkBranches(value: unknown, place: Place, scope: Scope): void {
  if (!Array.isArray(value)) throw refused(place, 'must be a list.', 'Write [{"case": …, "then": …}, …].');
  for (const [index, branch] of value.entries()) {
    const here = within(place, index);
    if (!isPlainObject(branch)) throw refused(here, 'must be an object.', 'Write {"case": …, "then": …}.');
    for (const key of Object.keys(branch)) {
      if (key !== 'case' && key !== 'then') {
        throw unknownKey(key, within(here, key), 'a branch of $switch', ['case', 'then']);
      }
      checkExpression(branch[key], within(here, key), scope);
    }
  }
}

function checkLet(value: unknown, place: Place, scope: Scope): void {
  const shape = 'Write {"vars": {"name": …}, "in": …}.';
  if (!isPlainObject(value) || !isPlainObject(value['vars'])) {
    throw refused(place, 'must be an object with an object of variables.', shape);
  }
  const vars = value['vars'];
  const names = variableNames(vars, within(place, 'vars'));
  for (const name of names) checkExpression(vars[name], within(within(place, 'vars'), name), scope);
  for (const key of Object.keys(value)) {
    if (key !== 'vars' && key !== 'in') throw unknownKey(key, within(place, key), '$let', ['vars', 'in']);
  }
  checkExpression(value['in'], within(place, 'in'), withVariables(scope, names));
}

function checkMeta(value: unknown, place: Place): void {
  if (typeof value === 'string' && metaNames.includes(value)) return;
  throw refused(place, 'is not available through $meta.', `Available are ${metaNames.join(', ')}.`);
}

function checkVariableName(name: unknown, place: Place): void {
  // CURRENT is the only server variable that may be redefined: "$field" starts from it.
  const taken =
    typeof name === 'string' &&
    (/^[a-z\u0080-\u{10ffff}][\w\u0080-\u{10ffff}]*$/u.test(name) || name === 'CURRENT');
  if (!taken) {
    throw refused(
      place,
      'is not a name for a variable.',
      'Begin with a lower-case letter, and go on with letters, digits and "_".',
    );
  }
}

/** `$$name.path`; `$path` and every other string are harmless. */
function checkVariable(text: string, place: Place, scope: Scope): void {
  if (!text.startsWith('$$')) return;
  const [name = ''] = text.slice(2).split('.', 1);
  if (isKnown(scope, name) || systemVariables.includes(name)) return;
  if (name === 'USER_ROLES' || name === 'SEARCH_META') {
    const instead = name === 'SEARCH_META' ? 'Use the stage $searchMeta.' : 'Leave it out.';
    throw refused(place, `reads $$${name}, which is the server's own.`, instead);
  }
  const known = [...systemVariables, ...knownNames(scope, limits.documents.suggestedAmong)];
  const [close] = nearest(name, known);
  throw refused(
    place,
    `names the variable ${quoted(`$$${name}`)}, which is not known here.`,
    close === undefined
      ? 'Define it with $let, or put text that begins with "$" into {"$literal": …}.'
      : `Did you mean $$${close}?`,
  );
}
