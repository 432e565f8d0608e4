/** Messages of a client of PostgreSQL (PostgreSQL manual, frontend/backend protocol, message formats). */

/** A statement in text alone. */
export const QUERY = 'Q'.charCodeAt(0);
/** Ends a statement with parameters. */
export const SYNC = 'S'.charCodeAt(0);

/** The first message of a connection has no type. */
export function frameReader(onFrame: (type: number, body: Buffer) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  let started = false;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const head = started ? 1 : 0;
      if (rest.length < head + 4) return;
      const end = head + rest.readUInt32BE(head);
      if (rest.length < end) return;
      if (started) onFrame(rest[0] ?? 0, rest.subarray(5, end));
      started = true;
      rest = rest.subarray(end);
    }
  };
}
