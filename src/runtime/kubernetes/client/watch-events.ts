/** Events of a watch: one JSON document a line. */
import { limits } from '../../../model/limits.ts';
import type { KubeObject } from './objects.ts';

export type WatchEvent<T> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; object: T }
  | { type: 'ERROR'; object: { code?: number; reason?: string; message?: string } };

/** Ends with the stream; throws for a line that is too long, and for one that is no event. */
export async function* eventsOf<T extends KubeObject>(
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<WatchEvent<T>> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...parts, chunk.subarray(from, end)]).toString();
      parts = [];
      length = 0;
      from = end + 1;
      if (line.trim() !== '') yield JSON.parse(line) as WatchEvent<T>;
    }
    parts.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > limits.kubernetes.eventBytes) throw new Error('an event of a watch is too long');
  }
}
