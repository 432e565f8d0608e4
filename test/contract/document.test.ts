/** Compares the documents of the contract with its table and with the model: what users read is what holds. */
import { describe, expect, it } from 'vitest';
import { errorTable } from '../../src/model/errors.ts';
import { type Command, decide, settle } from '../../src/model/lifecycle.ts';
import type { Operation, SandboxState } from '../../src/model/sandbox.ts';
import { parameterRows, rules, tableOf } from './document.ts';
import type { Parameter, Rules } from './notation.ts';
import { contract, parameters } from './table.ts';

describe('docs/tools.md', () => {
  it.each(contract.map((tool) => [tool.name, tool] as const))('names each parameter of %s', (name, tool) => {
    const named = parameterRows(name).map(([parameter]) => parameter);
    const expected = Object.keys(tool.parameters).map((parameter) => `\`${parameter}\``);
    expect(named.toSorted()).toEqual(expected.toSorted());
  });

  it.each(parameters.map(([tool, name, parameter]) => [tool.name, name, parameter] as const))(
    'gives values, bounds and default of %s %s',
    (tool, name, parameter) => {
      const row = parameterRows(tool).find(([cell]) => cell === `\`${name}\``) ?? [];
      const [, type = '', bounds = '', fallback] = row;
      for (const value of parameter.values ?? []) expect(type).toContain(`\`${value}\``);
      for (const bound of boundsIn(parameter)) expect(bounds).toContain(bound);
      expect(fallback).toBe(defaultIn(parameter));
    },
  );

  function boundsIn(parameter: Rules): string[] {
    const { min, max, minChars, maxChars, minItems, maxItems, pattern, items, keys = {} } = parameter;
    return [
      ...between(min, max),
      ...(minChars === 1 && maxChars === undefined ? ['not empty'] : between(minChars, maxChars)),
      ...between(minItems, maxItems),
      ...(pattern === undefined ? [] : [`\`${pattern.replaceAll('|', '\\|')}\``]),
      ...(items ? boundsIn(items) : []),
      ...Object.entries(keys).flatMap(([key, inner]) => [`\`${key}\``, ...boundsIn(inner)]),
    ];
  }

  function between(from: number | undefined, to: number | undefined): string[] {
    if (to === undefined) return from === undefined ? [] : [`from ${shown(from)}`];
    return [`${shown(from ?? 0)} to ${shown(to)}`];
  }

  function defaultIn({ required, default: fallback }: Parameter): string {
    if (required) return '**required**';
    return fallback === undefined ? '' : `\`${JSON.stringify(fallback)}\``;
  }
});

describe('docs/contract.md', () => {
  const inBytes = parameters.flatMap(([tool, name, { maxBytes, items }]) => {
    const most = maxBytes ?? items?.maxBytes;
    return most === undefined ? [] : [[tool.name, name, most] as const];
  });

  it.each(inBytes)('gives the bytes of %s %s', (_, name, most) => {
    const rows = tableOf('parameter', 'bound').filter(([names]) => names?.includes(`\`${name}\``));
    expect(rows.map(([, bound]) => bound).join(' ')).toContain(`${shown(most)} bytes`);
  });

  it.each(Object.entries(errorTable))('gives the statuses of %s', (code, { status, exit }) => {
    const beginning = `\`${code}\`: status ${status}, exit ${exit}`;
    expect(rules.filter(({ text }) => text.startsWith(beginning))).toHaveLength(1);
  });
});

describe('the states of docs/contract.md', () => {
  const resources = { cpu: 2, memory: 4, disk: 20, gpu: 0 };
  const sandbox = {
    ...{ name: 'demo', resources, operation: null, archive: null, stateReason: null },
    ...{ ephemeral: false, autoDeleteMinutes: -1, resizeTarget: null },
  };
  const commands: Record<string, Command> = {
    StartSandbox: { type: 'start' },
    StopSandbox: { type: 'stop' },
    ArchiveSandbox: { type: 'archive' },
    ResizeSandbox: { type: 'resize', request: { cpu: 3 } },
    DeleteSandbox: { type: 'delete' },
    'tools that work inside': { type: 'use' },
  };
  const states: SandboxState[] = ['started', 'stopped', 'archived', 'error'];

  it('have the decision on each command in each state', () => {
    const rows = tableOf('command', ...states);
    expect(rows.map(([command]) => command)).toEqual(Object.keys(commands));
    for (const [name = '', ...cells] of rows) {
      const command = commands[name];
      if (!command) throw new Error(`${name} is no command`);
      states.forEach((state, index) => {
        const decision = decide({ ...sandbox, state }, command);
        const word = decision.kind === 'begin' ? `\`${decision.operation}\`` : decision.kind;
        expect(cells[index]?.startsWith(word), `${name}, ${state}: ${word}`).toBe(true);
      });
    }
  });

  it('have the end of each operation', () => {
    const ends = tableOf('operation', 'succeeds', 'fails');
    expect(ends).toHaveLength(7);
    for (const [cell = '', succeeds = '', fails = ''] of ends) {
      const operation = cell === 'creation' ? 'creating' : (cell.replaceAll('`', '') as Operation);
      const at = { ...sandbox, state: 'stopped' as const, operation };
      const failed = settle(at, { type: 'failed', reason: 'no' });
      expect(succeeds.startsWith(endOf(settle(at, { type: 'succeeded' }))), operation).toBe(true);
      expect(fails.startsWith(endOf(failed, 'no sandbox')), operation).toBe(true);
    }
  });

  /** An operation that leaves the state as it was leaves it `stopped` here. */
  function endOf(settlement: ReturnType<typeof settle>, deleted = 'gone'): string {
    if (settlement.kind === 'deleted') return deleted;
    return settlement.kind === 'unsettled' ? 'repeated until' : `\`${settlement.state}\``;
  }
});

function shown(bound: number): string {
  return bound.toLocaleString('en-US');
}
