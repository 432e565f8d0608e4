/** Tries every bound of the contract on both sides, through the one way to call a tool. */
import { describe, expect, it } from 'vitest';
import { findTool } from '../../src/catalog/call.ts';
import { validateInput } from '../../src/catalog/validate.ts';
import { SandhavenError } from '../../src/model/errors.ts';
import { attempt } from './attempt.ts';
import { parameters } from './table.ts';
import { atBounds, beyondBounds, callWith } from './values.ts';

const rows = parameters.map(([tool, name, parameter]) => [tool.name, name, tool, parameter] as const);

describe('a value at a bound', () => {
  it.each(rows)(
    '[SBX-CREATE-13] [SBX-CREATE-14] [SBX-CREATE-15] [SBX-CREATE-16] [SBX-SEARCH-04] [SBX-SEARCH-05] [WIRE-DB-10] reaches the service: %s %s',
    async (toolName, name, tool, parameter) => {
      for (const value of atBounds(parameter)) {
        const call = callWith(tool, name, value);
        expect(validateInput(findTool(toolName).input, call)[name], shown(value)).toEqual(value);
        const { reached, answer } = await attempt(toolName, call);
        // The services in memory have no such sandbox or file.
        if (answer instanceof SandhavenError) expect(answer.code, shown(value)).toBe('not_found');
        expect(reached.length, shown(value)).toBeGreaterThan(0);
        if (typeof value !== 'number') continue;
        const passedOn = inMs.includes(name) ? value * 1_000 : value;
        expect(numbersIn(reached.map(({ given }) => given)), name).toContain(passedOn);
      }
    },
  );
});

describe('a value beyond a bound', () => {
  it.each(rows)(
    '[WIRE-ARGS-02] [WIRE-ARGS-03] [SBX-RESIZE-02] [SBX-LIST-05] [SBX-LIST-06] [SBX-CODE-03] [SBX-EXEC-04] [SBX-FILES-05] [SBX-FILES-10] [SBX-FILES-14] [SBX-FILES-15] [WIRE-PREVIEW-02] [WIRE-SESSION-01] [WIRE-SSH-04] [WIRE-AUTO-01] [WIRE-AUTO-02] [WIRE-AUTO-03] is refused by the name of its parameter, and reaches nothing: %s %s',
    async (toolName, name, tool, parameter) => {
      for (const value of beyondBounds(parameter)) {
        const { reached, answer } = await attempt(toolName, callWith(tool, name, value));
        expect(answer, shown(value)).toMatchObject({ code: 'invalid_argument' });
        const { message, fields } = answer as SandhavenError;
        expect(fields.parameter?.split('.')[0], shown(value)).toBe(name);
        expect(message, shown(value)).toMatch(new RegExp(`^${name}\\b.*\\b(must|is|has)\\b`, 's'));
        expect(reached, shown(value)).toEqual([]);
      }
    },
  );
});

/** Services take them in milliseconds. */
const inMs = ['timeout_seconds', 'wait_seconds'];

function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return [];
  return Object.values(value).flatMap(numbersIn);
}

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, 80);
}
