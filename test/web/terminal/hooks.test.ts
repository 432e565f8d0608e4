/** xterm obeys these sequences and no other: one that a later version adds has to be judged before it is let in. */
import { beforeAll, describe, expect, it } from 'vitest';
import { hasXterm, plainTerminal } from '../support/xterm.ts';

interface Parser {
  identToString(ident: number): string;
  _csiHandlers: object;
  _escHandlers: object;
  _executeHandlers: object;
  _oscParser: { _handlers: object };
  _dcsParser: { _handlers: object };
}

let parser: Parser;

beforeAll(async () => {
  const terminal: unknown = hasXterm ? await plainTerminal() : null;
  if (terminal)
    parser = (terminal as { _core: { _inputHandler: { _parser: Parser } } })._core._inputHandler._parser;
});

const named = (handlers: object) =>
  Object.keys(handlers)
    .map((ident) => parser.identToString(Number(ident)))
    .toSorted()
    .join(' ');

describe.skipIf(!hasXterm)('the sequences that xterm obeys', () => {
  it('are, of CSI: the cursor, erasing, modes, colours, reports, and the window’s `t`', () => {
    expect(named(parser._csiHandlers)).toBe(
      " @  A  q !p \"q $p '} '~ >c ?$p ?J ?K ?h ?l ?n @ A B C D E F G H I J K L M P S T X Z ` a b c d e f g h l m n r s t u",
    );
  });

  it('are, of ESC: the cursor, modes, character sets, and the reset', () => {
    const found = named(parser._escHandlers).split(' ');
    expect(found.filter((name) => !/^[()*+./-]./.test(name)).join(' ')).toBe(
      '#8 %@ %G 7 8 = > D E H M \\ c n o | } ~',
    );
  });

  it('are, of OSC: titles, colours and links, and not the clipboard', () => {
    expect(Object.keys(parser._oscParser._handlers).map(Number)).toEqual([
      0, 1, 2, 4, 8, 10, 11, 12, 104, 110, 111, 112,
    ]);
  });

  it('are, of DCS: one question', () => {
    expect(named(parser._dcsParser._handlers)).toBe('$q');
  });

  it('are, of single characters: the bell, tabs, lines and character sets, and no answer to ENQ', () => {
    expect(Object.keys(parser._executeHandlers).map(Number)).toEqual([
      7, 8, 9, 10, 11, 12, 13, 14, 15, 132, 133, 136,
    ]);
  });
});
