/**
 * Bounds of JSON in nodes and depth, enforced before it is parsed: a parser makes a hundred bytes of memory out of two,
 * and takes its time in one piece. Reads structure alone; the parser rejects malformed JSON.
 */
export interface JsonBounds {
  /** Values, nested ones included. */
  nodes: number;
  /** 3 for an array in an array in an object. */
  depth: number;
  /** Names of objects' values, which cost a parser most when all differ; by default as many as values. */
  keys?: number;
  /** Values and names together; by default as many as both may be. */
  nodesAndKeys?: number;
}

export type JsonVerdict = 'fits' | 'too_many_nodes' | 'too_deep';

/** Receives the outermost structure of a text during the scan. */
export interface JsonOutline {
  /** Deepest level that is reported. */
  readonly depth: number;
  /** Begins a string: a name, if a colon follows. Its bytes come as they stand in the text, in pieces. */
  begin(): void;
  piece(bytes: Uint8Array): void;
  /**
   * @param byte One of `[ { ] } , :`
   * @param depth With the value that opens here, and without the one that closes.
   * @param at Position in the text.
   * @param count Values and names so far.
   */
  mark(byte: number, depth: number, at: number, count: number): void;
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
/** The only bit that differs between `[` and `{`, and between `]` and `}`. */
const caseBit = 0x20;
const opening = 0x7b;
const closing = 0x7d;

/** Returns the verdict on a whole text. */
export function judgeJson(text: Uint8Array, bounds: JsonBounds): JsonVerdict {
  return new JsonScan(bounds).push(text);
}

/** Scans a text in chunks as it arrives, so that an excess shows before its end. */
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

  /** Number of bytes pushed. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Number of values and names: never fewer than there are. */
  get count(): number {
    return this.#nodes + this.#keys;
  }

  /** Returns the verdict on all chunks so far. Any but `fits` is final: no more may be pushed. */
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
        // An empty one counts as if it held a value, so that no excess passes unseen.
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

  /** @returns The position after a string; the chunk's length when the string does not end in it. */
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
