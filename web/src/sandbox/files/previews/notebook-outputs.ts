/**
 * Reads the outputs of a code cell, and takes the best harmless form of each. HTML, JavaScript and SVG are
 * never taken, whatever type they state.
 */
import {
  type Excerpt,
  excerptOf,
  fieldOf,
  hasRoomForMarkdown,
  MOST_TEXT_CHARACTERS,
  type Room,
} from './notebook-text.ts';

export type CellOutput =
  | { type: TextType; content: Excerpt }
  | { type: 'image'; mediaType: RasterType; bytes: Uint8Array<ArrayBuffer>; about: string }
  /** The cause for which an output is not shown. */
  | { type: 'note'; note: string };

type TextType = 'stdout' | 'stderr' | 'result' | 'error' | 'markdown';
type RasterType = 'image/png' | 'image/jpeg';

const RASTER_TYPES = ['image/png', 'image/jpeg'] as const;
const MOST_IMAGE_BYTES = 1024 ** 2;
const MOST_ABOUT_CHARACTERS = 200;
const MOST_NAMED_TYPES = 5;
const MOST_NAME_CHARACTERS = 60;

export function readOutputs(value: unknown, room: Room): { outputs: CellOutput[]; more: number } {
  const outputs: CellOutput[] = [];
  const given: unknown[] = Array.isArray(value) ? value : [];
  for (const [index, one] of given.entries()) {
    const output = readOutput(one, room);
    if (isContinued(outputs.at(-1), output)) {
      outputs.push(continued(outputs.pop(), output));
      continue;
    }
    if (room.outputs === 0) return { outputs, more: given.length - index };
    room.outputs--;
    outputs.push(output);
  }
  return { outputs, more: 0 };
}

function readOutput(output: unknown, room: Room): CellOutput {
  switch (fieldOf(output, 'output_type')) {
    case 'stream': {
      const type = fieldOf(output, 'name') === 'stderr' ? 'stderr' : 'stdout';
      return { type, content: excerptOf(fieldOf(output, 'text')) };
    }
    case 'error':
      return { type: 'error', content: tracebackOf(output) };
    case 'execute_result':
    case 'display_data':
      return readForms(fieldOf(output, 'data'), room);
    default:
      return { type: 'note', note: 'An output of an unknown kind is not shown.' };
  }
}

function readForms(forms: unknown, room: Room): CellOutput {
  const plain = fieldOf(forms, 'text/plain');
  const types = RASTER_TYPES.filter((type) => fieldOf(forms, type) !== undefined);
  const faults: string[] = [];
  for (const type of types) {
    const image = readImage(fieldOf(forms, type));
    if (typeof image !== 'string') {
      return { type: 'image', ...image, about: excerptOf(plain, MOST_ABOUT_CHARACTERS).text.trim() };
    }
    faults.push(`An image (${type}) is not shown: ${image}.`);
  }
  const markdown = fieldOf(forms, 'text/markdown');
  if (markdown !== undefined) {
    const content = excerptOf(markdown);
    return { type: hasRoomForMarkdown(content, room) ? 'markdown' : 'result', content };
  }
  if (plain !== undefined) return { type: 'result', content: excerptOf(plain) };
  return { type: 'note', note: faults[0] ?? withheld(forms) };
}

/** @returns the cause for which it is not shown, if it is not. */
function readImage(value: unknown): { mediaType: RasterType; bytes: Uint8Array<ArrayBuffer> } | string {
  const base64 = excerptOf(value, MOST_IMAGE_BYTES * 2);
  const bytes = base64.cut ? null : bytesOf(base64.text);
  if (base64.cut || (bytes && bytes.length > MOST_IMAGE_BYTES)) return 'it has more than 1 MB';
  const mediaType = bytes && rasterTypeOf(bytes);
  return mediaType ? { mediaType, bytes } : 'its bytes are neither PNG nor JPEG';
}

/** Decides by the first bytes: the name of a type is only a claim. */
function rasterTypeOf(bytes: Uint8Array): RasterType | null {
  const begins = (...signature: number[]) => signature.every((byte, index) => bytes[index] === byte);
  if (begins(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return 'image/png';
  return begins(0xff, 0xd8, 0xff) ? 'image/jpeg' : null;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    const signs = atob(base64);
    const bytes = new Uint8Array(signs.length);
    for (let index = 0; index < signs.length; index++) bytes[index] = signs.charCodeAt(index);
    return bytes;
  } catch {
    return null;
  }
}

function withheld(forms: unknown): string {
  const names = typeof forms === 'object' && forms !== null ? Object.keys(forms) : [];
  if (names.length === 0) return 'An output without content is not shown.';
  const named = names.slice(0, MOST_NAMED_TYPES).map((name) => name.slice(0, MOST_NAME_CHARACTERS));
  return `An output is not shown: the preview shows nothing of ${named.join(', ')}.`;
}

function tracebackOf(output: unknown): Excerpt {
  const lines = fieldOf(output, 'traceback');
  const strings = Array.isArray(lines) ? lines.filter((line) => typeof line === 'string') : [];
  if (strings.length > 0) return excerptOf(strings.map((line) => `${line}\n`));
  const part = (name: string) => excerptOf(fieldOf(output, name), MOST_TEXT_CHARACTERS / 2).text;
  return excerptOf(`${part('ename')}: ${part('evalue')}`);
}

type Printed = Extract<CellOutput, { content: Excerpt }>;

/** Kernels report a stream in pieces, and a later piece may overwrite the line of an earlier one. */
function isContinued(before: CellOutput | undefined, output: CellOutput): output is Printed {
  return before?.type === output.type && (output.type === 'stdout' || output.type === 'stderr');
}

function continued(before: CellOutput | undefined, output: Printed): CellOutput {
  const first = (before as Printed).content;
  if (first.cut) return before as Printed;
  const whole = excerptOf([first.text, output.content.text]);
  return { type: output.type, content: { ...whole, cut: whole.cut || output.content.cut } };
}
