/** Writes an error class for each code of the table. */
import { errorTable } from '../../src/model/errors.ts';
import { pascal } from './text.ts';

type Code = keyof typeof errorTable;

/** `timeout` is not TimeoutError, which is Python's own. */
export function errorName(code: string): string {
  if (code === 'timeout') return 'TimedOutError';
  return `${pascal(code)}Error`;
}

export function generateErrors(): string {
  const codes = Object.keys(errorTable) as Code[];
  const classes = codes.map(
    (code) => `class ${errorName(code)}(SandhavenError):\n    """${errorTable[code].title}: ${code}."""\n`,
  );
  const rows = codes.map((code) => `    "${code}": ${errorName(code)},\n`);
  const names = ['ERROR_TYPES', 'ErrorCode', ...codes.map(errorName)].toSorted();
  return `"""Codes of errors. Generated from the service's table by \`make generate\`; never edited by hand."""

from __future__ import annotations

from typing import Literal

from .._error import SandhavenError

__all__ = [
${names.map((name) => `    "${name}",\n`).join('')}]

ErrorCode = Literal[
${codes.map((code) => `    "${code}",\n`).join('')}]


${classes.join('\n\n')}

ERROR_TYPES: dict[str, type[SandhavenError]] = {
${rows.join('')}}
`;
}
