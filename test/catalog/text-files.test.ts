/** Texts of the file tools that would be too long for a model. */
import { describe, expect, it } from 'vitest';
import { findTool } from '../../src/catalog/call.ts';
import { toCallToolResult } from '../../src/surfaces/mcp/result.ts';

const TEXT_CHARS = 16 * 1024;

function textOf(name: string, result: Record<string, unknown>): string {
  const [first] = toCallToolResult(findTool(name), { result }).content;
  return first?.type === 'text' ? first.text : '';
}

describe('a text that would be too long', () => {
  const matches = Array.from({ length: 50 }, (_, line) => ({ line: line + 1, text: 'x'.repeat(40) }));
  const files = Array.from({ length: 200 }, (_, index) => ({
    ...{ path: `src/file-${index}.ts`, matches, match_count: 50, capped: true },
  }));

  it('is cut between two files, and names the offset to go on with', () => {
    const page = { total_count: 500, has_more: true, offset: 100, literal: false };
    const text = textOf('Sandbox.SearchContent', { files, ...page });
    expect(text.length).toBeLessThan(TEXT_CHARS);
    const shown = text.match(/^src\/file-\d+/gm)?.length ?? 0;
    expect(shown).toBeGreaterThan(3);
    expect(text).toMatch(new RegExp(`for the other ${200 - shown}: offset ${100 + shown}\\.$`));
  });

  it('is shortened when it is of one file, and shows the size of the rest', () => {
    const long = [{ path: 'a', matches: [{ line: 1, text: 'x'.repeat(40_000) }] }];
    const page = { total_count: 1, has_more: false, offset: 0, literal: false };
    expect(textOf('Sandbox.SearchContent', { files: long, ...page })).toContain('characters left out here');
  });
});
