/**
 * Filters output of sandboxes that would affect the page or its visitor. Titles, links and absurd counts are
 * dropped. Answers are rationed, since each is input that nobody typed, and so are sequences that cost the
 * page much for few bytes. xterm drops what it does not know, the clipboard's OSC 52 among it;
 * test/web/terminal/hooks.test.ts lists all that it knows.
 */
import type { Terminal } from '@xterm/xterm';

/** Answers to the program: at once, and each second. */
const ANSWERS = 64;
/** Resets, and switches between the screens, likewise: each makes the whole screen anew. */
const CHANGES = 64;
/** Lines that are inserted, deleted or scrolled by a count, likewise. */
const LINES = 8_192;

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
/** Lines and tabs: xterm goes step by step, for up to two billion steps. */
const countedByRows = ['L', 'M', 'S', 'T'];
const countedByColumns = ['I', 'Z', 'b'];
const FOCUS_MODE = 1_004;
/** Each switch between the two screens clears one of them. */
const screenModes = [47, 1_047, 1_049];

export function guard(terminal: Terminal): void {
  const { parser } = terminal;
  const answers = new Ration(ANSWERS);
  const changes = new Ration(CHANGES);
  const lines = new Ration(LINES);
  const isAnswerDropped = () => !answers.take(1);
  const isWide = (parameters: Parameters) => countOf(parameters) > terminal.cols;
  const moved = (parameters: Parameters) => {
    const count = countOf(parameters);
    return count > terminal.rows || !lines.take(count);
  };
  const set = (modes: Parameters) => {
    if (modes.includes(FOCUS_MODE) && isAnswerDropped()) return true;
    return switchesScreen(modes) && !changes.take(1);
  };
  for (const code of droppedOsc) parser.registerOscHandler(code, () => true);
  for (const code of colourOsc) parser.registerOscHandler(code, (data) => dropsColour(data, answers));
  for (const id of askingCsi) parser.registerCsiHandler(id, isAnswerDropped);
  for (const final of countedByRows) parser.registerCsiHandler({ final }, moved);
  for (const final of countedByColumns) parser.registerCsiHandler({ final }, isWide);
  // Size and place of the window.
  parser.registerCsiHandler({ final: 't' }, () => true);
  // Each time that it is set, xterm reports the focus.
  parser.registerCsiHandler({ prefix: '?', final: 'h' }, set);
  parser.registerCsiHandler(
    { prefix: '?', final: 'l' },
    (modes) => switchesScreen(modes) && !changes.take(1),
  );
  parser.registerEscHandler({ final: 'c' }, () => !changes.take(1));
  parser.registerDcsHandler({ intermediates: '$', final: 'q' }, isAnswerDropped);
}

type Parameters = (number | number[])[];

function countOf([count = 1]: Parameters): number {
  return typeof count === 'number' ? count : Number.POSITIVE_INFINITY;
}

function switchesScreen(modes: Parameters): boolean {
  return screenModes.some((mode) => modes.includes(mode));
}

/** One sequence may ask for many colours: each question is an answer. */
function dropsColour(data: string, answers: Ration): boolean {
  const questions = data.split(';').filter((part) => part === '?').length;
  return questions > 0 && !answers.take(questions);
}

class Ration {
  readonly #most: number;
  #left: number;
  #at = performance.now();

  /** @param most At once, and again each second. */
  constructor(most: number) {
    this.#most = most;
    this.#left = most;
  }

  take(count: number): boolean {
    const now = performance.now();
    this.#left = Math.min(this.#most, this.#left + ((now - this.#at) / 1_000) * this.#most);
    this.#at = now;
    if (this.#left < count) return false;
    this.#left -= count;
    return true;
  }
}
