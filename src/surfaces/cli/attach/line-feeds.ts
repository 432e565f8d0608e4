/**
 * Keeps line feeds what they are. Node's raw mode leaves the kernel adding a return to each, and a program on the whole
 * screen moves the cursor straight down with one: it is written as IND, which no kernel changes.
 */
const FEED = 0x0a;
const RETURN = 0x0d;
const INDEX = Buffer.from('\x1bD');

export class LineFeeds {
  #isAfterReturn = false;

  /** A feed behind a return stays, since a second return changes nothing. */
  translate(bytes: Buffer): Buffer {
    const parts: Buffer[] = [];
    let begin = 0;
    for (let at = bytes.indexOf(FEED); at >= 0; at = bytes.indexOf(FEED, at + 1)) {
      if (at === 0 ? this.#isAfterReturn : bytes[at - 1] === RETURN) continue;
      parts.push(bytes.subarray(begin, at), INDEX);
      begin = at + 1;
    }
    this.#isAfterReturn = bytes.at(-1) === RETURN;
    return parts.length === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(begin)]);
  }
}
