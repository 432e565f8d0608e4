/** Cells of a notebook as nbformat 4 has them: what code printed and showed, in order. */
import type { DisplayedResult, RunInContextResult } from '@sandhaven/sdk';

export interface CodeCell {
  cell_type: 'code';
  source: string;
  execution_count: number | null;
  outputs: Record<string, unknown>[];
  metadata: object;
}

export type Language = 'python' | 'javascript' | 'typescript' | 'bash';

/** Most characters that a stream of one cell keeps here. */
const MOST_CHARACTERS = 200_000;

export function newCell(source: string): CodeCell {
  return { cell_type: 'code', source, execution_count: null, outputs: [], metadata: {} };
}

/** Adds printed text; what is too much is left out. */
export function printed(cell: CodeCell, name: 'stdout' | 'stderr', text: string): CodeCell {
  const last = cell.outputs.at(-1);
  const continues = last?.['output_type'] === 'stream' && last['name'] === name;
  const before = continues ? String(last['text']) : '';
  if (before.length > MOST_CHARACTERS) return cell;
  const stream = { output_type: 'stream', name, text: before + text };
  return { ...cell, outputs: [...(continues ? cell.outputs.slice(0, -1) : cell.outputs), stream] };
}

export function displayed(cell: CodeCell, { type, data }: DisplayedResult): CodeCell {
  const output =
    type === 'result'
      ? { output_type: 'execute_result', execution_count: cell.execution_count, data, metadata: {} }
      : { output_type: 'display_data', data, metadata: {} };
  return { ...cell, outputs: [...cell.outputs, output] };
}

/** Adds the error of a run, and what else did not go as it should. */
export function ended(cell: CodeCell, result: RunInContextResult): CodeCell {
  const { error, run, ended: cause, timed_out, exit_code, results_left_out } = result;
  const notes = [
    ...(timed_out ? ['The code was interrupted at its timeout.'] : []),
    ...(exit_code ? [`exit code ${exit_code}`] : []),
    ...(results_left_out > 0 ? [`${results_left_out} results are left out.`] : []),
    ...(cause === null ? [] : [`The context has ended: ${cause}`]),
  ];
  const raised = error && {
    ...{ output_type: 'error', ename: error.name, evalue: error.value },
    traceback: error.traceback.split('\n'),
  };
  const told = notes.length === 0 ? cell : printed(cell, 'stderr', `${notes.join('\n')}\n`);
  return { ...told, execution_count: run, outputs: [...told.outputs, ...(raised ? [raised] : [])] };
}

export function toNotebook(cells: readonly CodeCell[], language: Language): string {
  const names = { python: 'python3', javascript: 'javascript', typescript: 'typescript', bash: 'bash' };
  const metadata = {
    kernelspec: { name: names[language], display_name: language, language },
    language_info: { name: language },
  };
  return JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 4 }, null, 1);
}
