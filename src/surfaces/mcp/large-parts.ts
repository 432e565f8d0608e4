/**
 * What is large in results, on its way past the SDK, which would make one string of all of it: it gets tokens instead,
 * and they become the JSON that they stand for, piece by piece, as the client takes it.
 */
import { randomUUID } from 'node:crypto';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { limits } from '../../model/limits.ts';
import { isLargeJson, jsonPieces } from '../json/pieces.ts';

/** Of one exchange. Tokens are random, so that nothing else can be taken for one. */
export class LargeParts {
  /** By the JSON that each is for now. */
  readonly #parts = new Map<string, unknown>();

  get isEmpty(): boolean {
    return this.#parts.size === 0;
  }

  /** The same result without what is large in it. */
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

  /** Text of the SDK, with all that was taken out. */
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

  /** Valid as base64, as pictures are. */
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
