/** Groups of tools: complete, distinct, and chosen by name. */
import { describe, expect, it } from 'vitest';
import { findTool } from '../../src/catalog/call.ts';
import { tools } from '../../src/catalog/index.ts';
import { selectTools, toolsetOf, toolsets } from '../../src/catalog/toolsets.ts';

describe('toolsets', () => {
  it('share no tool', () => {
    expect(new Set(tools).size).toBe(tools.length);
  });

  it('a tool that is in none is a defect that nobody can miss', () => {
    expect(() => toolsetOf({ name: 'Sandbox.Unheard' })).toThrow(/Sandbox\.Unheard is in no toolset/);
  });

  it('are chosen by name, in the order of the catalogue, however they are written', () => {
    const chosen = selectTools(' Execution, files ,', 'toolsets').map(({ name }) => name);
    const wanted = tools.filter((tool) => ['files', 'execution'].includes(toolsetOf(tool)));
    expect(chosen).toEqual(wanted.map(({ name }) => name));
    expect(chosen).toContain('Sandbox.RunCommand');
    expect(chosen).not.toContain('Sandbox.CreateSandbox');
    expect(selectTools(undefined, 'toolsets')).toBe(tools);
    expect(selectTools('files,all', 'toolsets')).toBe(tools);
  });

  it('are named in the error when they are unknown, with the known ones', () => {
    expect(() => selectTools('files,exekution', '--toolsets')).toThrow(
      expect.objectContaining({
        code: 'invalid_argument',
        message: 'There is no toolset "exekution".',
        fields: {
          parameter: '--toolsets',
          hint: `Did you mean execution? The toolsets are ${toolsets.join(', ')}; all means every one but contexts and forks.`,
        },
      }),
    );
    expect(() => selectTools(' , ', '--toolsets')).toThrow(/names no toolset/);
  });

  it('make the other tools unknown, and the error shows how to get them', () => {
    const chosen = selectTools('files', 'toolsets');
    expect(findTool('Sandbox_ReadFile', chosen).name).toBe('Sandbox.ReadFile');
    expect(() => findTool('Sandbox_RunCommand', chosen)).toThrow(
      expect.objectContaining({
        code: 'not_found',
        fields: { resource: 'tool', hint: expect.stringContaining('Its toolset is execution') },
      }),
    );
    // Of a name that is none, only what this client can see is suggested.
    expect(() => findTool('Sandbox.RunComand', chosen)).toThrow(
      expect.objectContaining({
        fields: { resource: 'tool', hint: expect.not.stringContaining('RunCommand') },
      }),
    );
  });
});
