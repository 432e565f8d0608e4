/** Reads the documents of the contract: the rules and tables of docs/contract.md, the tables of docs/tools.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const docs = join(import.meta.dirname, '..', '..', 'docs');
const contractPage = readFileSync(join(docs, 'contract.md'), 'utf8');
const toolsPage = readFileSync(join(docs, 'tools.md'), 'utf8');

export interface Rule {
  /** PREFIX-SECTION-NN. */
  id: string;
  text: string;
}

/** `- **SBX-CREATE-03** …`, with its further lines indented. */
export const rules: readonly Rule[] = [
  ...contractPage.matchAll(/^- \*\*((?:SBX|DDB|WIRE)-[A-Z]+-\d\d)\*\* (.+(?:\n {2}.+)*)/gm),
].map(([, id = '', text = '']) => ({ id, text: text.replace(/\n\s+/g, ' ') }));

/** Rows of the table of docs/contract.md that begins with these headings, as cells. */
export function tableOf(...headings: string[]): string[][] {
  return tableIn(contractPage, headings);
}

/** Rows of parameters of one tool in docs/tools.md: name, type, bounds, default. */
export function parameterRows(tool: string): string[][] {
  const section = toolsPage.split(`\n### ${tool}\n`)[1]?.split(/\n##/)[0] ?? '';
  return tableIn(section, ['parameter', 'type', 'bounds', 'default']);
}

function tableIn(page: string, headings: string[]): string[][] {
  const lines = page.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${headings.join(' | ')} |`));
  if (start < 0) return [];
  const rows = lines.slice(start + 2);
  const end = rows.findIndex((line) => !line.startsWith('|'));
  // A bar within a cell is escaped.
  return rows.slice(0, end).map((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
