/** Explains a JSON syntax error: the fault, its place, and the right spelling. */
import { invalidArgument, type SandhavenError } from '../../../model/errors.ts';
import { foreignSpelling, numberHint, type SyntaxProblem } from './foreign-spelling.ts';
import { excerpt, parameterOf, placeInText } from './place.ts';

/** Expected token at the place; `quote`: the end of the string that begins there. */
export type Expected =
  | 'value'
  | 'key'
  | 'colon'
  | 'comma'
  | 'end'
  | 'quote'
  | 'number'
  | 'escape'
  | 'character';

/** @param opened Start of the object or array around the place. */
export function syntaxFault(
  text: string,
  name: string,
  at: number,
  expected: Expected,
  opened: number | undefined,
): SandhavenError {
  const parameter = parameterOf(name);
  if (/^[ \t\n\r]*$/.test(text)) {
    return invalidArgument(parameter, `${name} is empty.`, 'Leave it out, or give a JSON object: {}.');
  }
  const { problem, hint } = explain(text, at, expected, opened);
  const where = `${placeInText(text, at)}: ${excerpt(text, at)}`;
  return invalidArgument(parameter, `${name} is not valid JSON: ${problem} at ${where}`, hint);
}

function explain(text: string, at: number, expected: Expected, opened: number | undefined): SyntaxProblem {
  const rest = text.slice(at, at + 200);
  switch (expected) {
    case 'quote':
      return { problem: 'a string is not closed that begins', hint: 'End the string with a double quote.' };
    case 'escape':
      return badEscape(rest);
    case 'character':
      return { problem: 'a control character is in a string', hint: controlHint(rest) };
    case 'number':
      return { problem: 'a number has a form that JSON has not', hint: numberHint(rest) };
  }
  if (rest === '') return unclosed(text, opened);
  const foreign = foreignSpelling(rest, expected === 'value' || expected === 'key' ? expected : 'sign');
  if (foreign !== null) return foreign;
  switch (expected) {
    case 'key':
      return strayPunctuation(text, at, 'a key') ?? missing('a key in double quotes');
    case 'value':
      return strayPunctuation(text, at, 'a value') ?? missing('a value');
    case 'colon':
      return { ...missing('a colon'), hint: 'A colon stands between key and value: "status": "active".' };
    case 'comma':
      return missingComma(rest, text[opened ?? 0] ?? '');
    case 'end':
      return {
        problem: 'more follows behind the end',
        hint: 'Give one JSON value. Are there more closing than opening braces, or several documents?',
      };
  }
}

function missing(what: string): SyntaxProblem {
  return { problem: `${what} is missing`, hint: 'Give JSON as RFC 8259 has it: {"status": "active"}.' };
}

function missingComma(rest: string, opener: string): SyntaxProblem {
  const closer = opener === '{' ? '}' : ']';
  const wrong = rest[0] === '}' || rest[0] === ']';
  return {
    problem: wrong ? `${rest[0]} is where only ${closer} closes` : `a comma or ${closer} is missing`,
    hint: wrong
      ? `What was opened by ${opener} is closed by ${closer}: a closing sign is missing before, or one is too many.`
      : `Put a comma between two ${opener === '{' ? 'pairs of key and value' : 'values'}, or ${closer} at the end.`,
  };
}

function unclosed(text: string, opened: number | undefined): SyntaxProblem {
  if (opened === undefined) return missing('a value');
  const closer = text[opened] === '{' ? '}' : ']';
  return {
    problem: `the text ends before ${text[opened]} of ${placeInText(text, opened)} is closed,`,
    hint: `Add what is missing, and close with ${closer}.`,
  };
}

function strayPunctuation(text: string, at: number, instead: string): SyntaxProblem | null {
  const sign = text[at] ?? '';
  if (!',:}]'.includes(sign)) return null;
  const afterComma = /,[ \t\n\r]*$/.test(text.slice(Math.max(0, at - 200), at));
  const hint =
    afterComma && sign !== ':'
      ? 'JSON has no comma behind the last element: remove the one before.'
      : `Remove ${sign}, or add what is missing before it.`;
  return { problem: `${sign} is where ${instead} should be`, hint };
}

function badEscape(rest: string): SyntaxProblem {
  const wrong = rest.slice(0, 2);
  return {
    problem: `${wrong} is no escape of JSON`,
    hint: wrong.startsWith('\\u')
      ? 'After \\u come four hexadecimal digits.'
      : `A backslash is written twice in JSON: \\${wrong}.`,
  };
}

function controlHint(rest: string): string {
  const escaped = JSON.stringify(rest[0] ?? '').slice(1, -1);
  return `Inside of a string it is written ${escaped}.`;
}
