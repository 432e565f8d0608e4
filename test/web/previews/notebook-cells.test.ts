/** Reads notebooks that a sandbox may hold: right ones, old ones, broken ones and hostile ones. */
import { describe, expect, it } from 'vitest';
import { readNotebook } from '../../../web/src/sandbox/files/previews/notebook-cells.ts';

const PNG_START = 'iVBORw0KGgo=';

const notebook = (cells: unknown) => JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells });

function cellsOf(text: string) {
  const read = readNotebook(text);
  if ('fault' in read) throw new Error(read.fault);
  return read.cells;
}

/** Outputs of the one code cell that has these. */
function outputsOf(...outputs: unknown[]) {
  const [cell] = cellsOf(notebook([{ cell_type: 'code', source: '', outputs }]));
  if (cell?.type !== 'code') throw new Error('no code cell');
  return cell.outputs;
}

const display = (data: object) => ({ output_type: 'display_data', data, metadata: {} });
const textOf = (text: string) => ({ text, cut: false });

describe('a notebook', () => {
  it('has Markdown, code with its count, and raw text, of one string or of lines', () => {
    const cells = [
      { cell_type: 'markdown', source: ['# Sales\n', 'by month'] },
      { cell_type: 'code', execution_count: 3, source: 'print(1)', outputs: [] },
      { cell_type: 'code', execution_count: null, source: [], outputs: [] },
      { cell_type: 'raw', source: 'as it is' },
    ];
    expect(readNotebook(notebook(cells))).toEqual({
      cells: [
        { type: 'markdown', source: textOf('# Sales\nby month') },
        { type: 'code', count: 3, source: textOf('print(1)'), outputs: [], moreOutputs: 0 },
        { type: 'code', count: null, source: textOf(''), outputs: [], moreOutputs: 0 },
        { type: 'raw', source: textOf('as it is') },
      ],
      moreCells: 0,
    });
  });

  it.each([
    ['{"nbformat": 4, "cells": [', 'This notebook is broken'],
    ['', 'This notebook is broken'],
    ['null', 'This notebook is broken'],
    ['[4]', 'This notebook is broken'],
    ['{"cells": []}', 'This notebook is broken'],
    ['{"nbformat": "4", "cells": []}', 'This notebook is broken'],
    ['{"nbformat": 4}', 'This notebook is broken'],
    ['{"nbformat": 4, "cells": {"length": 9}}', 'This notebook is broken'],
    ['{"__proto__": {"nbformat": 4, "cells": []}}', 'This notebook is broken'],
    ['{"nbformat": 3, "worksheets": []}', 'This notebook has format 3; the preview shows format 4'],
    ['{"nbformat": 5, "cells": []}', 'This notebook has format 5; the preview shows format 4'],
  ])('that reads %s has a fault', (text, fault) => expect(readNotebook(text)).toMatchObject({ fault }));

  it('is refused before it is parsed when it is too large', () => {
    const text = notebook([{ cell_type: 'raw', source: 'x'.repeat(2_097_152) }]);
    expect(readNotebook(text)).toMatchObject({ fault: 'This notebook is too large to show' });
  });

  it('keeps the rest when a cell is no cell', () => {
    const strange = [null, 7, [], {}, { cell_type: 'constructor' }, { cell_type: 'raw', source: 'kept' }];
    const types = ['unknown', 'unknown', 'unknown', 'unknown', 'unknown', 'raw'];
    expect(cellsOf(notebook(strange)).map(({ type }) => type)).toEqual(types);
  });

  it('leaves out fields of another type, however deep they are', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const text = `{"nbformat": 4, "cells": [{"cell_type": "code", "source": ["a", ${deep}, {}, 1, "b"],
      "execution_count": "<b>", "outputs": {"0": 1}, "__proto__": {"x": 1}}]}`;
    expect(cellsOf(text)).toEqual([
      { type: 'code', count: null, source: textOf('ab'), outputs: [], moreOutputs: 0 },
    ]);
  });
});

describe('an output', () => {
  it('is printed, with the pieces of one stream together', () => {
    const stream = (name: string, text: unknown) => ({ output_type: 'stream', name, text });
    const printed = outputsOf(
      stream('stdout', ['10 %\r', '50 %']),
      stream('stdout', '\r100 %\n'),
      stream('stderr', 'careful'),
    );
    expect(printed).toEqual([
      { type: 'stdout', content: textOf('10 %\r50 %\r100 %\n') },
      { type: 'stderr', content: textOf('careful') },
    ]);
  });

  it('is an error with its traceback, or with its name where there is none', () => {
    const error = { output_type: 'error', ename: 'ValueError', evalue: 'too small' };
    expect(outputsOf({ ...error, traceback: ['File "a.py"', 5, 'ValueError'] }, error)).toEqual([
      { type: 'error', content: textOf('File "a.py"\nValueError\n') },
      { type: 'error', content: textOf('ValueError: too small') },
    ]);
  });

  it('is an image before Markdown, and Markdown before text', () => {
    const forms = {
      'text/plain': '<Figure>\n',
      'text/markdown': '*a*',
      'image/png': ['iVBO\n', 'Rw0KGgo=\n'],
    };
    const result = { output_type: 'execute_result', data: { 'text/plain': ['a  b\n', '1  2'] } };
    expect(outputsOf(display(forms), display({ 'text/plain': 'x', 'text/markdown': '*a*' }), result)).toEqual(
      [
        {
          ...{ type: 'image', mediaType: 'image/png', about: '<Figure>' },
          bytes: new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
        },
        { type: 'markdown', content: textOf('*a*') },
        { type: 'result', content: textOf('a  b\n1  2') },
      ],
    );
  });

  it('is never HTML or JavaScript', () => {
    const hostile = { 'text/html': '<script>taken()</script>', 'application/javascript': 'taken()' };
    expect(outputsOf(display({ ...hostile, 'text/plain': 'a table' }), display(hostile))).toEqual([
      { type: 'result', content: textOf('a table') },
      {
        type: 'note',
        note: 'An output is not shown: the preview shows nothing of text/html, application/javascript.',
      },
    ]);
  });

  it('is an image only by its first bytes', () => {
    const svg = btoa('<svg xmlns="http://www.w3.org/2000/svg" onload="taken()"/>');
    const note = (type: string) => ({
      type: 'note',
      note: `An image (${type}) is not shown: its bytes are neither PNG nor JPEG.`,
    });
    expect(
      outputsOf(
        display({ 'image/png': svg }),
        display({ 'image/png': 'no base64!' }),
        display({ 'image/jpeg': { length: 4 } }),
        display({ 'image/svg+xml': '<svg/>' }),
        display({ 'image/jpeg': PNG_START }),
      ),
    ).toEqual([
      note('image/png'),
      note('image/png'),
      note('image/jpeg'),
      { type: 'note', note: 'An output is not shown: the preview shows nothing of image/svg+xml.' },
      expect.objectContaining({ type: 'image', mediaType: 'image/png' }),
    ]);
  });

  it('is noted when it has nothing or is of no kind', () => {
    expect(outputsOf(display({}), { output_type: 'toString' }, null, { output_type: 'stream' })).toEqual([
      { type: 'note', note: 'An output without content is not shown.' },
      { type: 'note', note: 'An output of an unknown kind is not shown.' },
      { type: 'note', note: 'An output of an unknown kind is not shown.' },
      { type: 'stdout', content: textOf('') },
    ]);
  });
});

describe('the bounds', () => {
  it('hold for 10,000 cells', () => {
    const read = readNotebook(notebook(Array(10_000).fill({ cell_type: 'raw', source: 'x' })));
    expect(read).toMatchObject({ cells: { length: 500 }, moreCells: 9_500 });
  });

  it('hold for the outputs of all cells together', () => {
    const outputs = Array(700).fill({ output_type: 'display_data', data: { 'text/plain': 'x' } });
    expect(cellsOf(notebook(Array(2).fill({ cell_type: 'code', outputs })))).toMatchObject([
      { outputs: { length: 700 }, moreOutputs: 0 },
      { outputs: { length: 300 }, moreOutputs: 400 },
    ]);
  });

  it('hold for each text', () => {
    const piece = { output_type: 'stream', name: 'stdout', text: Array(60).fill('x'.repeat(1_000)) };
    const [output, ...more] = outputsOf(piece, piece, piece);
    expect(output).toEqual({ type: 'stdout', content: { text: 'x'.repeat(100_000), cut: true } });
    expect(more).toEqual([]);
  });

  it('hold for an image', () => {
    const large = 'iVBORw0KGgoA'.concat('AAAA'.repeat(349_524));
    expect(outputsOf(display({ 'image/png': large }))).toEqual([
      { type: 'note', note: 'An image (image/png) is not shown: it has more than 1 MB.' },
    ]);
  });

  it('leave Markdown as text where it is long, or where there was much before it', () => {
    const markdown = (length: number) => ({ cell_type: 'markdown', source: 'x'.repeat(length) });
    const cells = [markdown(10_001), ...Array(10).fill(markdown(10_000)), markdown(1)];
    expect(cellsOf(notebook(cells)).map(({ type }) => type)).toEqual([
      'raw',
      ...Array(10).fill('markdown'),
      'raw',
    ]);
  });
});
