/** Lists a tool's likely failures: those that its schema implies, and those that its description explains. */
import type { ToolDescription } from '../../src/catalog/describe.ts';
import { type ErrorCode, errorTable } from '../../src/model/errors.ts';

interface Failure {
  code: ErrorCode;
  meaning: string;
}

const codes = Object.keys(errorTable) as ErrorCode[];

export function errorsOf({
  description,
  input_schema,
}: Pick<ToolDescription, 'description' | 'input_schema'>): Failure[] {
  const { properties = {}, required = [] } = input_schema;
  const optional = 'sandbox' in properties && !required.includes('sandbox');
  const implied: Failure[] = [
    ...('sandbox' in properties
      ? [{ code: 'not_found' as const, meaning: 'there is no such sandbox.' }]
      : []),
    ...(optional
      ? [
          {
            code: 'ambiguous_sandbox' as const,
            meaning: '`sandbox` is left out and there is none, or several.',
          },
        ]
      : []),
    ...(optional
      ? [{ code: 'invalid_state' as const, meaning: 'the sandbox is not started; call StartSandbox first.' }]
      : []),
  ];
  const said = codes.flatMap((code) => saidOf(code, description));
  const own = new Set(said.map(({ code }) => code));
  // The description's own words outrank implied ones; a missing sandbox is listed besides.
  return [...implied.filter(({ code }) => code === 'not_found' || !own.has(code)), ...said];
}

/** Finds `already_exists: take another name.`, also with a condition before the colon, or all of it in parentheses. */
function saidOf(code: ErrorCode, description: string): Failure[] {
  const found = new RegExp(`\\b${code}\\b([^:.;]*?): (.+?)(?=\\.(?:\\s|$))`).exec(description);
  if (!found) return [];
  const [, condition = '', meaning = ''] = found;
  const prefix = condition.trim() === '' ? '' : `${condition.trim()}: `;
  return [{ code, meaning: `${prefix}${untilOuterParenthesis(meaning)}.` }];
}

/** Cuts the text at a parenthesis that closes none of its own. */
function untilOuterParenthesis(text: string): string {
  let depth = 0;
  for (const [index, char] of [...text].entries()) {
    depth += Number(char === '(') - Number(char === ')');
    if (depth < 0) return text.slice(0, index);
  }
  return text;
}
