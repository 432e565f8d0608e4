/** Filters in the query of a list of sandboxes, each as a test of one sandbox. */
import { invalidArgument } from '../../../model/errors.ts';
import type { Sandbox } from '../../../model/sandbox.ts';
import type { DaytonaCall } from '../base/call.ts';
import { NotHere } from '../base/errors.ts';
import { statesOf } from './sandbox-answer.ts';

export type Filter = (sandbox: Sandbox) => boolean;

/** Makes a filter of the values of its name, of which there is at least one. */
type Make = (values: [string, ...string[]], name: string) => Filter;

const filters: Record<string, Make> = {
  id: prefixOf(({ id }) => id),
  name: prefixOf(({ name }) => name),
  states: oneOf((sandbox) => statesOf(sandbox).state),
  snapshots: oneOf(({ snapshot }) => snapshot ?? ''),
  regionIds: oneOf(({ regionId }) => regionId),
  regions: oneOf(({ regionId }) => regionId),
  sandboxClasses: oneOf(() => 'container'),
  isPublic: oneOf(() => 'false'),
  isRecoverable: oneOf(({ state }) => String(state === 'error')),
  ...between('Cpu', ({ resources }) => resources.cpu),
  ...between('MemoryGiB', ({ resources }) => resources.memory),
  ...between('DiskGiB', ({ resources }) => resources.disk),
  ...between('Gpu', ({ resources }) => resources.gpu),
  ...around('createdAt', ({ createdAt }) => createdAt),
  ...around('lastEvent', ({ lastActivityAt }) => lastActivityAt),
};

/** The order that there is. */
const order: Record<string, string> = { sort: 'createdAt', order: 'desc' };

/** A deleted sandbox is gone, one that waits in a pool is nobody's, and answers do not differ in detail. */
const withoutEffect = ['includeErroredDeleted', 'includeWarm', 'verbose'];

/** @param ways Names that say which part of the list is wanted, beside those of both lists. */
export function filterOf(call: DaytonaCall, ways: readonly string[]): Filter {
  const tests = Object.keys(call.query).flatMap((name): Filter[] => {
    const [first, ...others] = valuesIn(call, name);
    if (first === undefined || [...ways, ...withoutEffect, 'limit', 'labels'].includes(name)) return [];
    if (order[name] === first) return [];
    const make = Object.hasOwn(filters, name) ? filters[name] : undefined;
    // Their setting is in no row of a sandbox.
    const isKnown = name !== 'isPublic' || !call.services.publicPorts.isAllowed;
    if (make && isKnown) return [make([first, ...others], name)];
    throw new NotHere(`A list of sandboxes has no ${name}=${first.slice(0, 100)} here; it is newest first.`);
  });
  return (sandbox) => tests.every((test) => test(sandbox));
}

/** Returns all values of a name. */
export function valuesIn({ request }: DaytonaCall, name: string): string[] {
  const value = (request.query as Record<string, string | string[] | undefined>)[name];
  return value === undefined ? [] : [value].flat();
}

function prefixOf(textOf: (sandbox: Sandbox) => string): Make {
  return ([prefix]) =>
    (sandbox) =>
      textOf(sandbox).toLowerCase().startsWith(prefix.toLowerCase());
}

function oneOf(textOf: (sandbox: Sandbox) => string): Make {
  return (values) => (sandbox) => values.includes(textOf(sandbox));
}

function between(name: string, numberOf: (sandbox: Sandbox) => number): Record<string, Make> {
  return {
    [`min${name}`]: limit((sandbox, bound) => numberOf(sandbox) >= bound, Number),
    [`max${name}`]: limit((sandbox, bound) => numberOf(sandbox) <= bound, Number),
  };
}

function around(name: string, timeOf: (sandbox: Sandbox) => number): Record<string, Make> {
  return {
    [`${name}After`]: limit((sandbox, time) => timeOf(sandbox) > time, Date.parse),
    [`${name}Before`]: limit((sandbox, time) => timeOf(sandbox) < time, Date.parse),
  };
}

function limit(
  isWithin: (sandbox: Sandbox, bound: number) => boolean,
  parse: (text: string) => number,
): Make {
  return ([text], name) => {
    const bound = parse(text);
    if (Number.isNaN(bound)) throw invalidArgument(name, `${name} must be a number, or a time.`);
    return (sandbox) => isWithin(sandbox, bound);
  };
}
