/**
 * Keeps the large parts of results away from the SDK, which would make one string of everything: it gets tokens, which
 * are replaced by their JSON, piece by piece, as the client reads.
 */
import { randomUUID } from 'node:crypto';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { limits } from '../../model/limits.ts';
import { isLargeJson, jsonPieces } from '../json/pieces.ts';

/** Parts of one exchange. Tokens are random, so that no other text can be mistaken for one. */
export class LargeParts {
  /** Keyed by each token's JSON. */
  readonly #parts = new Map<string, unknown>();

  get isEmpty(): boolean {
    return this.#parts.size === 0;
  }

  /** Returns the result with its large parts replaced by tokens. */
  takeOut(result: CallToolResult): CallToolResult {
    const { structuredContent, content } = result;
    return {
      ...result,
      ...(structuredContent && isLargeJson(structuredContent)
        ? { structuredContent: this.#standIn(structuredContent) }
        : {}),
      content: content.map((item) => {
        const isLarge = item.type === 'image' && item.data.length >= limits.largeAnswerBytes;
        return isLarge ? { ...item, data: this.#token(item.data) } : item;
      }),
    };
  }

  /** Yields the SDK's text with every part restored. */
  *putBack(text: string): Generator<string> {
    let rest = text;
    for (;;) {
      const found = [...this.#parts.keys()]
        .map((json) => ({ json, at: rest.indexOf(json) }))
        .filter(({ at }) => at !== -1)
        .toSorted((one, other) => one.at - other.at)[0];
      if (!found) break;
      yield rest.slice(0, found.at);
      yield* jsonPieces(this.#parts.get(found.json));
      rest = rest.slice(found.at + found.json.length);
    }
    yield rest;
  }

  /** Valid base64, as pictures must be. */
  #token(value: unknown): string {
    const token = randomUUID().replaceAll('-', '');
    this.#parts.set(JSON.stringify(token), value);
    return token;
  }

  #standIn(value: unknown): Record<string, string> {
    const token = randomUUID();
    const standIn = { [token]: token };
    this.#parts.set(JSON.stringify(standIn), value);
    return standIn;
  }
}
