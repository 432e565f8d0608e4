/** Hands on the answers that `early.ts` asked for before the page ran, each once, and sends every other request. */

/** By method, path and body; null where an answer was not asked for after all. */
export type EarlyAnswers = Map<string, Promise<Response | null>>;

/** The global object, by which the two scripts meet. */
export interface WithEarlyAnswers {
  earlyAnswers?: EarlyAnswers;
}

/** Since the page was opened: a screen that is shown later must not begin with old data. */
const FRESH_MS = 10_000;

/** Replaces `fetch` in requests that may have such an answer: those for the owner that this tab acts for. */
export async function fetchOrTakeEarly(path: string, init: RequestInit): Promise<Response> {
  const page = globalThis as WithEarlyAnswers;
  if (performance.now() > FRESH_MS) delete page.earlyAnswers;
  const key = `${init.method ?? 'GET'} ${path} ${String(init.body ?? '')}`;
  const early = page.earlyAnswers?.get(key);
  page.earlyAnswers?.delete(key);
  return (await early?.catch(() => null)) ?? fetch(path, init);
}
