/** Hands on the answers that `early.ts` asked for before the page ran, each once, and sends every other request. */

/** Takes the place of `fetch` where such an answer may be meant: in requests for the owner that this tab acts for. */
export async function fetchOrTakeEarly(path: string, init: RequestInit): Promise<Response> {
  const key = `${init.method ?? 'GET'} ${path} ${String(init.body ?? '')}`;
  const early = window.earlyAnswers?.get(key);
  window.earlyAnswers?.delete(key);
  return (await early?.catch(() => null)) ?? fetch(path, init);
}
