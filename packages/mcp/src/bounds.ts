/** Bounds of the bridge: neither its client nor a service makes it grow beyond them. */

const MiB = 1024 * 1024;

export interface Bounds {
  /** Longest message of the client; the service takes no longer one. */
  requestBytes: number;
  /** Longest message of the service: 16 MiB of a file can be 96 MiB of JSON. */
  answerBytes: number;
  /** All messages that are on their way, both directions together. */
  roomBytes: number;
  /** Requests in progress. */
  requests: number;
  /** Longest refusal that is read, and what is shown of one of its texts. */
  refusalBytes: number;
  textChars: number;
  /** Time until an answer begins, with the way of a large request. */
  beginMs: number;
  /** Time without a byte of an answer; the service sends a sign of life each 15 seconds. */
  silenceMs: number;
  /** Longest file with a key. */
  keyBytes: number;
}

export const bounds: Bounds = {
  requestBytes: 24 * MiB,
  answerBytes: 128 * MiB,
  roomBytes: 256 * MiB,
  requests: 128,
  refusalBytes: 64 * 1024,
  textChars: 2_000,
  beginMs: 270_000,
  silenceMs: 60_000,
  keyBytes: 1_024,
};

/** Bytes that several messages share. */
export class Room {
  readonly #total: number;
  #taken = 0;

  constructor(total: number) {
    this.#total = total;
  }

  /** Returns false, and takes nothing, where too few are left. */
  take(bytes: number): boolean {
    if (this.#taken + bytes > this.#total) return false;
    this.#taken += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#taken -= bytes;
  }
}
