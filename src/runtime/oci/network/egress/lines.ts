/** Splits a stream of bytes into lines, each no longer than a bound. */

/**
 * @param onLine Receives each complete line, without its end.
 * @param onTooLong Called once for a line over `mostBytes`; the rest of the stream is ignored.
 */
export function readLines(
  mostBytes: number,
  onLine: (line: string) => void,
  onTooLong: () => void,
): (piece: Buffer) => void {
  let begun: Buffer[] = [];
  let bytes = 0;
  let isOver = false;
  return (piece) => {
    let rest = piece;
    while (!isOver && rest.length > 0) {
      const end = rest.indexOf(0x0a);
      const part = end < 0 ? rest : rest.subarray(0, end);
      begun.push(part);
      bytes += part.length;
      if (bytes > mostBytes) {
        isOver = true;
        begun = [];
        onTooLong();
        return;
      }
      if (end < 0) return;
      const line = Buffer.concat(begun).toString();
      begun = [];
      bytes = 0;
      rest = rest.subarray(end + 1);
      onLine(line);
    }
  };
}
