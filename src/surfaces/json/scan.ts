/**
 * How many keys and values JSON has, and how deep they are, by its bytes alone: a body that would become millions of
 * objects is refused before one of them is made. What is no JSON is left to who parses it.
 */
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
/** `[` and `{`, `]` and `}` differ in one bit. */
const OPENING = 0x5b;
const CLOSING = 0x5d;
const BRACE_BIT = 0x20;

export class JsonScan {
  /** At least as many as there are. */
  #nodes = 1;
  #depth = 0;
  #inString = false;
  #escaped = false;

  /** The bytes that follow. Fails with `too_large`. */
  push(chunk: Uint8Array): void {
    let inString = this.#inString;
    let escaped = this.#escaped;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if (escaped) escaped = false;
      else if (byte === QUOTE) inString = !inString;
      else if (inString) escaped = byte === BACKSLASH;
      else if (byte === COMMA || byte === COLON) this.#nodes++;
      else if ((byte & ~BRACE_BIT) === (OPENING & ~BRACE_BIT)) this.#open();
      else if ((byte & ~BRACE_BIT) === (CLOSING & ~BRACE_BIT)) this.#depth--;
    }
    this.#inString = inString;
    this.#escaped = escaped;
    if (this.#nodes > limits.json.nodes) throw tooLarge(`more than ${limits.json.nodes} keys and values`);
  }

  #open(): void {
    this.#nodes++;
    if (++this.#depth > limits.json.depth)
      throw tooLarge(`objects and lists ${limits.json.depth} deep and deeper`);
  }
}

function tooLarge(what: string): SandhavenError {
  return new SandhavenError('too_large', `The request body has ${what}.`, {
    hint: 'Send less at once; long text is one value, however long it is.',
  });
}
