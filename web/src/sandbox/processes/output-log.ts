/** The last of a process's output: both streams together, and each by itself. */
import type { ProcessEnd } from '@sandhaven/sdk';

/** A shown text of so many is the end of a longer one. */
export const MOST_CHARS = 500_000;

const nothing = { output: '', stdout: '', stderr: '' };

export class OutputLog {
  end: ProcessEnd | undefined;
  error: unknown;
  #text = nothing;
  #forgottenBytes = 0;

  /** Output after a gap does not continue the output before it, which goes. */
  add(stream: 'stdout' | 'stderr', more: string, leftOutBytes: number): void {
    this.#forgottenBytes += leftOutBytes;
    const before = leftOutBytes > 0 ? nothing : this.#text;
    const text = { ...before, output: before.output + more, [stream]: before[stream] + more };
    // Seldom, since it copies the text.
    this.#text = text.output.length > 2 * MOST_CHARS ? endsOf(text) : text;
  }

  shown() {
    const { end, error } = this;
    return { text: endsOf(this.#text), forgottenBytes: this.#forgottenBytes, end, error };
  }
}

function endsOf({ output, stdout, stderr }: typeof nothing) {
  const end = (text: string) => text.slice(-MOST_CHARS);
  return { output: end(output), stdout: end(stdout), stderr: end(stderr) };
}
