/** Builds snapshots from Dockerfiles, and hands on what happens meanwhile. */
import { failureOf } from './call.ts';
import type { Connection, RequestOptions } from './connection.ts';
import { foreignAnswer, fromProblem } from './errors.ts';
import { type Bytes, sendable } from './files.ts';
import type { GetSnapshotResult } from './generated.ts';

export interface BuildOptions extends RequestOptions {
  /** Name of the snapshot; one that was built before under it goes when this one is whole. */
  name: string;
  /** The folder with the Dockerfile, as a tar that is not compressed. */
  context: Bytes;
  /** Path of the Dockerfile in the context; `Dockerfile` by default. */
  file?: string;
  /** Stage, by name or number; the last by default. */
  target?: string;
  buildArgs?: Readonly<Record<string, string>>;
  /** false: every step runs. */
  cache?: boolean;
}

export type BuildEvent =
  | { event: 'step'; step: number; of: number; stage: string; line: number; text: string; cached?: boolean }
  | { event: 'output'; stream: 'stdout' | 'stderr'; text: string }
  | { event: 'note'; line: number; text: string }
  | { event: 'failed'; line: number; exit_code: number };

/** The signal ends the build. @param onEvent Gets all but the last event, in order. */
export async function build(
  connection: Connection,
  { name, context, file, target, buildArgs = {}, cache, ...options }: BuildOptions,
  onEvent: (event: BuildEvent) => void = () => {},
): Promise<GetSnapshotResult> {
  const query = new URLSearchParams({ name });
  if (file !== undefined) query.set('file', file);
  if (target !== undefined) query.set('target', target);
  if (cache !== undefined) query.set('cache', String(cache));
  for (const pair of Object.entries(buildArgs)) query.append('build_arg', pair.join('='));
  const body = await sendable(context);
  const headers = { 'content-type': 'application/x-tar' };
  const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
  const attempts = connection.begin(options);
  try {
    const response = await connection.request(`/v1/builds?${query}`, init, attempts);
    if (!response.ok) throw await failureOf(response);
    for await (const line of linesOf(response)) {
      const event = JSON.parse(line) as { event: string; snapshot?: GetSnapshotResult; problem?: unknown };
      if (event.event === 'result' && event.snapshot) return event.snapshot;
      if (event.event === 'error') throw fromProblem(event.problem) ?? foreignAnswer(response.status);
      onEvent(event as BuildEvent);
    }
    throw foreignAnswer(response.status);
  } catch (error) {
    throw connection.explain(error, attempts);
  } finally {
    attempts.close();
  }
}

/** Empty lines show that the build goes on. */
async function* linesOf({ body }: Response): AsyncGenerator<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
      const lines = (rest + piece.value).split('\n');
      rest = lines.pop() ?? '';
      yield* lines.filter((line) => line !== '');
    }
  } finally {
    await reader?.cancel().catch(() => {});
  }
}
