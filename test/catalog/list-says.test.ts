/** What a model cannot know and needs before it calls a tool: MCP's list says it where the model looks. */
import { describe, expect, it } from 'vitest';
import { tools } from '../../src/catalog/index.ts';
import { listTools } from '../../src/surfaces/mcp/server.ts';

const listed = new Map(listTools(tools).map((tool) => [tool.name, tool]));

/** A client asks its user before a call, and runs calls side by side, by these. */
it('the tools that may save a file are not said to be read-only, nor to destroy anything', () => {
  const hintsOf = (name: string) => listed.get(name)?.annotations;
  for (const name of ['DocumentDb_FindDocuments', 'DocumentDb_AggregateDocuments']) {
    expect(hintsOf(name)).toMatchObject({
      ...{ readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    });
  }
  expect(hintsOf('DocumentDb_CountDocuments')).toMatchObject({ readOnlyHint: true });
});

describe('the list of tools', () => {
  it.each([
    [
      'what is installed',
      'Sandbox_CreateSandbox',
      'Python 3.13 (numpy, pandas, matplotlib, requests, pytest)',
    ],
    ['what counts as activity', 'Sandbox_ConfigureSandboxAuto', 'Activity: calls that work in it, '],
    ['that background processes do not', 'Sandbox_ConfigureSandboxAuto', 'not background processes'],
    ['what memory and disk are in use', 'Sandbox_GetSandbox', 'memory_bytes and disk_bytes in use now'],
    ['how a repository is made', 'Sandbox_GitClone', 'git init with Sandbox_RunCommand'],
    ['how changes are shown', 'Sandbox_GitStatus', 'git diff with Sandbox_RunCommand'],
    ['what a remote may be', 'Sandbox_GitPull', 'the remote (URL, or path in the sandbox)'],
    ['what a remote may be', 'Sandbox_GitPush', 'its remote (URL, or path in the sandbox)'],
    ['that a terminal does not echo', 'Sandbox_SendSessionInput', 'a terminal that does not echo'],
    [
      'why examples are missing',
      'DocumentDb_GetCollectionSchema',
      'examples (empty where enum, min or fields ',
    ],
    [
      'when strings mean something else',
      'DocumentDb_FindDocuments',
      'A filter runs as written; only if nothing ',
    ],
  ])('shows %s: %s', (_what, name, words) => {
    expect(listed.get(name)?.description).toContain(words);
  });

  it.each([
    ['that a size is the new total', 'Sandbox_ResizeSandbox', 'disk_gb', 'New total disk in GB.'],
    ['what starts with a sandbox', 'Sandbox_CreateSnapshot', 'entrypoint', "the image's own is not."],
    ['what an expression may have', 'Sandbox_SearchContent', 'query', '\\d \\w \\s \\b'],
    ['that parentheses are none of the text', 'Sandbox_SearchContent', 'query', 'foo(bar) needs literal.'],
    ['what an expression may have', 'Sandbox_ReplaceInFiles', 'pattern', '\\b \\d \\w'],
    ['that parentheses are none of the text', 'Sandbox_ReplaceInFiles', 'pattern', 'foo(bar) needs literal.'],
    ['what a glob may have', 'Sandbox_ReplaceInFiles', 'files', '** is any depth: src/**/*.ts.'],
    ['which repository is meant', 'Sandbox_GitStatus', 'path', '/workspace, or the only one in it'],
    [
      'that a save needs a started sandbox',
      'DocumentDb_FindDocuments',
      'save_to_sandbox',
      /^Started sandbox /,
    ],
    [
      'that a save makes a file',
      'DocumentDb_AggregateDocuments',
      'save_to_path',
      /^New file .*beneath \/workspace\.$/,
    ],
  ])('shows %s: %s, %s', (_what, name, parameter, words) => {
    const { description } = (listed.get(name)?.inputSchema.properties?.[parameter] ?? {}) as {
      description?: string;
    };
    if (typeof words === 'string') expect(description).toContain(words);
    else expect(description).toMatch(words);
  });
});
