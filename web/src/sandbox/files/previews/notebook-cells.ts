/**
 * Reads a Jupyter notebook of format 4 as cells to show. Its bytes come out of a sandbox: every field may be
 * of any type and of any size, so deviations from the format are left out, and everything has a bound.
 */
import { type CellOutput, readOutputs } from './notebook-outputs.ts';
import { type Excerpt, excerptOf, fieldOf, hasRoomForMarkdown, type Room } from './notebook-text.ts';

export type Cell =
  | { type: 'code'; source: Excerpt; count: number | null; outputs: CellOutput[]; moreOutputs: number }
  | { type: 'markdown' | 'raw'; source: Excerpt }
  | { type: 'unknown' };

/** A notebook that cannot be shown has a fault, with the cause and the next step. */
export type ReadNotebook = { cells: Cell[]; moreCells: number } | { fault: string; advice: string };

const FORMAT = 4;
/** Most characters of the file; the editor opens no more bytes than these, but more may be written into it. */
const MOST_FILE_CHARACTERS = 2 * 1024 ** 2;
const MOST_CELLS = 500;
const MOST_OUTPUTS = 1_000;
/** Most Markdown of a whole notebook that becomes elements; the rest is shown as text. */
const MOST_MARKDOWN_CHARACTERS = 100_000;

export const tooLarge = {
  fault: 'This notebook is too large to show',
  advice: 'The preview shows notebooks of at most 2 MB. Download it to see the whole.',
};

export function readNotebook(text: string): ReadNotebook {
  if (text.length > MOST_FILE_CHARACTERS) return tooLarge;
  const notebook = parsed(text);
  if (notebook === undefined) return broken('Its text is not JSON.');
  const format = fieldOf(notebook, 'nbformat');
  if (typeof format !== 'number') return broken('It names no format (“nbformat”).');
  if (format !== FORMAT) return otherFormat(format);
  const cells = fieldOf(notebook, 'cells');
  if (!Array.isArray(cells)) return broken('Its “cells” are not a list.');
  const room: Room = { outputs: MOST_OUTPUTS, markdownCharacters: MOST_MARKDOWN_CHARACTERS };
  return {
    cells: cells.slice(0, MOST_CELLS).map((cell) => readCell(cell, room)),
    moreCells: Math.max(cells.length - MOST_CELLS, 0),
  };
}

export function readCell(cell: unknown, room: Room): Cell {
  const type = fieldOf(cell, 'cell_type');
  const source = excerptOf(fieldOf(cell, 'source'));
  switch (type) {
    case 'code': {
      const { outputs, more } = readOutputs(fieldOf(cell, 'outputs'), room);
      return { type, source, count: countOf(cell), outputs, moreOutputs: more };
    }
    case 'markdown':
      return { type: hasRoomForMarkdown(source, room) ? type : 'raw', source };
    case 'raw':
      return { type, source };
    default:
      return { type: 'unknown' };
  }
}

function countOf(cell: unknown): number | null {
  const count = fieldOf(cell, 'execution_count');
  return Number.isSafeInteger(count) ? (count as number) : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function broken(cause: string): ReadNotebook {
  return { fault: 'This notebook is broken', advice: `${cause} Its text can be read and repaired.` };
}

function otherFormat(format: number): ReadNotebook {
  const advice =
    format < FORMAT
      ? 'Jupyter brings it to format 4 when it opens and saves it.'
      : 'Jupyter can save it in format 4.';
  return {
    fault: `This notebook has format ${format}; the preview shows format ${FORMAT}`,
    advice: `${advice} Its text can be read here.`,
  };
}
