/**
 * Bounds of JSON in nodes and depth, held before it is parsed: a parser makes a hundred bytes of memory out of
 * two, and takes its time for it in one piece. Reads structure alone; what is no JSON is left to the parser.
 */
export interface JsonBounds {
  /** Values, those within others included. */
  nodes: number;
  /** Of an array in an array in an object: 3. */
  depth: number;
  /** Names of objects' values, which cost a parser most when each is another; by default as many as values. */
  keys?: number;
  /** Values and names together; by default as many as both may be. */
  nodesAndKeys?: number;
}

export type JsonVerdict = 'fits' | 'too_many_nodes' | 'too_deep';

/** Follows the outermost structure of a text while it is scanned. */
export interface JsonOutline {
  /** What is deeper is not reported. */
  readonly depth: number;
  /** A string begins: a name, if a colon follows. Its bytes come as they stand in the text, in pieces. */
  begin(): void;
  piece(bytes: Uint8Array): void;
  /**
   * @param byte One of `[ { ] } , :`
   * @param depth With what opens here, and without what closes.
   * @param at Where it is in the text.
   * @param count Values and names so far.
   */
  mark(byte: number, depth: number, at: number, count: number): void;
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
/** `[` and `{`, `]` and `}` are told from one another by this bit alone. */
const caseBit = 0x20;
const opening = 0x7b;
const closing = 0x7d;

/** The verdict on a text that is there as a whole. */
export function judgeJson(text: Uint8Array, bounds: JsonBounds): JsonVerdict {
  return new JsonScan(bounds).push(text);
}

/** Takes a text in chunks as it arrives, so that one over its bounds is known before its end. */
export class JsonScan {
  readonly #most: Required<JsonBounds>;
  readonly #outline: JsonOutline | null;
  #nodes = 1;
  #depth = 0;
  #keys = 0;
  #bytes = 0;
  #inString = false;
  #escaped = false;

  constructor(bounds: JsonBounds, outline: JsonOutline | null = null) {
    const { nodes, depth, keys = nodes, nodesAndKeys = nodes + keys } = bounds;
    this.#most = { nodes, depth, keys, nodesAndKeys };
    this.#outline = outline;
  }

  /** Bytes that were pushed. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Values and names in them: never fewer than there are. */
  get count(): number {
    return this.#nodes + this.#keys;
  }

  /** Of all that was pushed. One that is not `fits` is final: nothing more may be pushed. */
  push(chunk: Uint8Array): JsonVerdict {
    const most = this.#most;
    const shallow = this.#outline?.depth ?? -1;
    let nodes = this.#nodes;
    let keys = this.#keys;
    let depth = this.#depth;
    for (let at = this.#inString ? this.#stringEnd(chunk, 0, depth) : 0; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (byte === quote) {
        if (depth <= shallow) this.#outline?.begin();
        at = this.#stringEnd(chunk, at + 1, depth) - 1;
        continue;
      }
      if (byte === comma) nodes += 1;
      else if (byte === colon) keys += 1;
      else if ((byte | caseBit) === opening) {
        // An empty one counts as if it held a value: the bound is never passed unseen.
        nodes += 1;
        depth += 1;
        if (depth > most.depth) return 'too_deep';
      } else if ((byte | caseBit) === closing) depth -= 1;
      else continue;
      if (nodes > most.nodes || keys > most.keys || nodes + keys > most.nodesAndKeys) return 'too_many_nodes';
      if (depth <= shallow) this.#outline?.mark(byte, depth, this.#bytes + at, nodes + keys);
    }
    this.#nodes = nodes;
    this.#keys = keys;
    this.#depth = depth;
    this.#bytes += chunk.length;
    return 'fits';
  }

  /** @returns Where the text goes on behind a string; the chunk's length when the string does not end in it. */
  #stringEnd(chunk: Uint8Array, start: number, depth: number): number {
    const end = this.#closingQuote(chunk, start);
    const outline = this.#outline;
    if (outline && depth <= outline.depth) outline.piece(chunk.subarray(start, end));
    return this.#inString ? end : end + 1;
  }

  #closingQuote(chunk: Uint8Array, start: number): number {
    let escaped = this.#escaped;
    for (let at = start; at < chunk.length; at++) {
      const byte = chunk[at];
      if (escaped) escaped = false;
      else if (byte === backslash) escaped = true;
      else if (byte === quote) {
        this.#inString = false;
        this.#escaped = false;
        return at;
      }
    }
    this.#inString = true;
    this.#escaped = escaped;
    return chunk.length;
  }
}
