/** Parses server-sent events of a response body: the part of the format that the service sends. */

export interface ServerEvent {
  event: string;
  data: string;
}

/** Skips comments, which keep the connection alive. */
export async function* readEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<ServerEvent> {
  let unfinished = '';
  let fields = new Map<string, string>();
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    unfinished += text;
    // A large result is one line in many pieces, split once at its end.
    if (!text.includes('\n')) continue;
    const lines = unfinished.split('\n');
    unfinished = lines.pop() ?? '';
    for (const line of lines) {
      const data = fields.get('data');
      if (line !== '') fields.set(...fieldOf(line));
      else if (data !== undefined) yield { event: fields.get('event') ?? 'message', data };
      if (line === '') fields = new Map();
    }
  }
}

/** A comment is a field without a name. */
function fieldOf(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
}
