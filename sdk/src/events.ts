/** Parses server-sent events of a response body: the part of the format that the service sends. */

export interface ServerEvent {
  event: string;
  data: string;
}

/** Skips comments, which keep the connection alive. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  // Not every browser can iterate over a stream.
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let unfinished: string[] = [];
  let fields = new Map<string, string>();
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = decoder.decode(value, { stream: true }).split('\n');
      // A large result is one line in many pieces, joined once.
      unfinished.push(lines.shift() ?? '');
      if (lines.length === 0) continue;
      const last = lines.pop() ?? '';
      for (const line of [unfinished.join(''), ...lines]) {
        const data = fields.get('data');
        if (line !== '') fields.set(...fieldOf(line));
        else if (data !== undefined) yield { event: fields.get('event') ?? 'message', data };
        if (line === '') fields = new Map();
      }
      unfinished = [last];
    }
  } finally {
    // Ignored: the call has its result, or is being cancelled.
    reader.cancel().catch(() => {});
  }
}

/** A comment is a field without a name. */
function fieldOf(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
}
