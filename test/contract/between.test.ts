/** Tries the rules between parameters of one tool, through the one way to call it. */
import { describe, expect, it } from 'vitest';
import { attempt } from './attempt.ts';
import { contract } from './table.ts';
import { callWith, leastCall, sampleOf } from './values.ts';

const collection = { database_name: 'x', collection_name: 'x' };
const preview = { sandbox: 'x', port: 80 };

describe('parameters that exclude each other', () => {
  const rows = contract.flatMap((tool) =>
    tool.exclusive ? [[tool.name, tool.exclusive, tool] as const] : [],
  );

  it('are those of one tool', () => {
    expect(rows.map(([name, exclusive]) => [name, exclusive])).toEqual([
      ['Sandbox.CreateSandbox', ['snapshot', 'image']],
    ]);
  });

  it.each(rows)('[SBX-CREATE-08] %s takes one of %j, and not both', async (name, exclusive, tool) => {
    for (const one of exclusive) await reaches(name, callWith(tool, one, 'x'));
    await refuses(name, { ...leastCall(tool), snapshot: 'x', image: 'x' }, 'snapshot');
  });
});

describe('parameters of which one is needed', () => {
  const rows = contract.flatMap((tool) =>
    tool.atLeastOneOf ? [[tool.name, tool.atLeastOneOf, tool] as const] : [],
  );

  it('are those of two tools', () => {
    expect(rows.map(([name]) => name)).toEqual(['Sandbox.ConfigureSandboxAuto', 'Sandbox.ResizeSandbox']);
  });

  it.each(rows)(
    '[SBX-RESIZE-01] [WIRE-RESIZE-01] [WIRE-AUTO-04] %s needs one of %j',
    async (name, choices, { parameters }) => {
      await refuses(name, { sandbox: 'x' }, choices[0]);
      for (const choice of choices) {
        const parameter = parameters[choice];
        if (!parameter) throw new Error(`${name} has no ${choice}`);
        await reaches(name, { sandbox: 'x', [choice]: sampleOf(parameter) });
      }
    },
  );
});

describe('a parameter that depends on another', () => {
  it('[WIRE-FILES-11] end_line is not before start_line', async () => {
    await reaches('Sandbox.ReadFile', { path: 'x', start_line: 7, end_line: 7 });
    await refuses('Sandbox.ReadFile', { path: 'x', start_line: 7, end_line: 6 }, 'end_line');
  });

  it('[WIRE-PREVIEW-02] [SBX-PREVIEW-05] expires_in_seconds means nothing unless signed', async () => {
    await reaches('Sandbox.GetPortPreviewUrl', { ...preview, expires_in_seconds: 0 });
    await refuses(
      'Sandbox.GetPortPreviewUrl',
      { ...preview, signed: true, expires_in_seconds: 0 },
      'expires_in_seconds',
    );
  });

  it('[WIRE-BOX-19] sizes beside a snapshot are checked all the same', async () => {
    await reaches('Sandbox.CreateSandbox', { snapshot: 'x', cpu: 16 });
    await refuses('Sandbox.CreateSandbox', { snapshot: 'x', cpu: 17 }, 'cpu');
  });

  it.each([
    ['DocumentDb.FindDocuments', collection],
    ['DocumentDb.AggregateDocuments', { ...collection, pipeline: [] }],
  ])('%s takes a sandbox and a path to save in, or neither', async (name, parameters) => {
    const tool = contract.find((one) => one.name === name);
    expect(tool?.together).toEqual(['save_to_sandbox', 'save_to_path']);
    await reaches(name, { ...parameters, save_to_sandbox: 'x', save_to_path: 'x' });
    await refuses(name, { ...parameters, save_to_sandbox: 'x' }, 'save_to_path');
    await refuses(name, { ...parameters, save_to_path: 'x' }, 'save_to_sandbox');
  });
});

async function reaches(name: string, parameters: Record<string, unknown>): Promise<void> {
  const { reached } = await attempt(name, parameters);
  expect(reached.length, JSON.stringify(parameters)).toBeGreaterThan(0);
}

async function refuses(
  name: string,
  parameters: Record<string, unknown>,
  parameter: string | undefined,
): Promise<void> {
  const { reached, answer } = await attempt(name, parameters);
  expect(answer, JSON.stringify(parameters)).toMatchObject({
    code: 'invalid_argument',
    fields: { parameter },
  });
  expect(reached).toEqual([]);
}
