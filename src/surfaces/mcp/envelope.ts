/**
 * What a message has besides the arguments of its tool, counted as it arrives: the SDK walks all of that more than
 * once, and nothing of it needs to be large. Messages of a batch count together.
 */
import { SandhavenError } from '../../model/errors.ts';
import type { JsonScan } from '../../model/json-bounds.ts';
import { limits } from '../../model/limits.ts';
import type { OwnBounds } from '../json/bodies.ts';

/** Where arguments are. Written with escapes these names are not known, and what they name counts. */
const PATH = ['params', 'arguments'];
const LONGEST_NAME = Math.max(...PATH.map(({ length }) => length));

const COLON = 0x3a;
const COMMA = 0x2c;
const LIST = 0x5b;

export class Envelope implements OwnBounds {
  /** Of what is in the parameters of a message in a batch. */
  readonly depth = 3;
  /** Of a message: 1, or 2 in a batch. 0 before it has begun. */
  #message = 0;
  /** The last string, as far as it can be a name of the path. */
  #name = '';
  /** Names of the path that lead to what is being read. */
  #matched = 0;
  /** Where the arguments that are being read begin. */
  #begun = { bytes: 0, count: 0 };
  /** All arguments that were read. */
  #own = { bytes: 0, count: 0 };

  begin(): void {
    this.#name = '';
  }

  piece(bytes: Uint8Array): void {
    if (this.#name.length > LONGEST_NAME) return;
    this.#name += Buffer.from(bytes.subarray(0, LONGEST_NAME + 1)).toString('latin1');
  }

  mark(byte: number, depth: number, at: number, count: number): void {
    if (this.#message === 0) this.#message = byte === LIST ? 2 : 1;
    if (byte === COLON) {
      if (depth !== this.#message + this.#matched || this.#name !== PATH[this.#matched]) return;
      this.#matched++;
      if (this.#matched === PATH.length) this.#begun = { bytes: at, count };
      return;
    }
    // The value that the last name of the path stands for ends with a comma beside it, or with what it is in.
    const beside = this.#message + this.#matched - 1;
    if (this.#matched === 0 || !(depth < beside || (byte === COMMA && depth === beside))) return;
    if (this.#matched === PATH.length) {
      this.#own.bytes += at - this.#begun.bytes;
      this.#own.count += count - this.#begun.count;
    }
    this.#matched--;
  }

  /** Fails with `too_large` once what was scanned has too much besides arguments. */
  assertSmall({ bytes, count }: JsonScan): void {
    const { envelopeBytes, envelopeNodes } = limits.json;
    const reading = this.#matched === PATH.length;
    const ownBytes = this.#own.bytes + (reading ? bytes - this.#begun.bytes : 0);
    const ownCount = this.#own.count + (reading ? count - this.#begun.count : 0);
    if (count - ownCount > envelopeNodes) throw tooLarge(`${envelopeNodes} keys and values`);
    if (bytes - ownBytes > envelopeBytes) throw tooLarge(`${envelopeBytes} bytes`);
  }
}

function tooLarge(most: string): SandhavenError {
  return new SandhavenError(
    'too_large',
    `The message has more than ${most} besides the arguments of its tool.`,
    { hint: 'Put what the tool works on into `arguments`, and leave out of `_meta` what no server needs.' },
  );
}
