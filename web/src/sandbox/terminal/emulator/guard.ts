/**
 * Takes from what a sandbox prints the power over the page and its visitor. Titles, links and colours asked of the page are
 * dropped, absurd counts too, and answers are rationed: each is input that nobody typed. xterm drops what it does not
 * know, the clipboard's OSC 52 among it; test/web/terminal/hooks.test.ts lists all that it knows.
 */
import type { IDisposable, Terminal } from '@xterm/xterm';

/** Answers to the program: so many at once, and so many a second. */
const ANSWERS_AT_ONCE = 64;
const ANSWERS_PER_SECOND = 64;

/** Titles 0 to 2; 8 links; 52 the clipboard, for a later xterm. */
const droppedOsc = [0, 1, 2, 8, 52];
/** Colours: programs may set and ask for them. */
const colourOsc = [4, 10, 11, 12];
/** Device attributes, status reports and modes. */
const askingCsi = [
  { final: 'c' },
  { prefix: '>', final: 'c' },
  { final: 'n' },
  { prefix: '?', final: 'n' },
  { intermediates: '$', final: 'p' },
  { prefix: '?', intermediates: '$', final: 'p' },
];
/** Lines and tabs: xterm takes one step after the other, two thousand million of them if so told. */
const countedByRows = ['L', 'M', 'S', 'T'];
const countedByColumns = ['I', 'Z', 'b'];
const FOCUS_MODE = 1_004;

export function guard(terminal: Terminal): IDisposable {
  const { parser } = terminal;
  const ration = new Ration();
  const isSpent = () => !ration.take();
  const over = (most: () => number) => (parameters: (number | number[])[]) => {
    const [count = 1] = parameters;
    return typeof count !== 'number' || count > most();
  };
  const hooks = [
    ...droppedOsc.map((code) => parser.registerOscHandler(code, () => true)),
    ...colourOsc.map((code) => parser.registerOscHandler(code, (data) => dropsColour(data, ration))),
    ...askingCsi.map((id) => parser.registerCsiHandler(id, isSpent)),
    ...countedByRows.map((final) =>
      parser.registerCsiHandler(
        { final },
        over(() => terminal.rows),
      ),
    ),
    ...countedByColumns.map((final) =>
      parser.registerCsiHandler(
        { final },
        over(() => terminal.cols),
      ),
    ),
    // Size and place of the window.
    parser.registerCsiHandler({ final: 't' }, () => true),
    // Each time that it is set, xterm reports the focus.
    parser.registerCsiHandler(
      { prefix: '?', final: 'h' },
      (modes) => modes.includes(FOCUS_MODE) && isSpent(),
    ),
    parser.registerDcsHandler({ intermediates: '$', final: 'q' }, isSpent),
  ];
  return { dispose: () => hooks.forEach((hook) => void hook.dispose()) };
}

/** One sequence may ask for many colours: each question is an answer. */
function dropsColour(data: string, ration: Ration): boolean {
  const questions = data.split(';').filter((part) => part === '?').length;
  if (questions > ANSWERS_AT_ONCE) return true;
  for (let asked = 0; asked < questions; asked++) if (!ration.take()) return true;
  return false;
}

class Ration {
  #left = ANSWERS_AT_ONCE;
  #at = performance.now();

  take(): boolean {
    const now = performance.now();
    const grown = ((now - this.#at) / 1_000) * ANSWERS_PER_SECOND;
    this.#left = Math.min(ANSWERS_AT_ONCE, this.#left + grown);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
