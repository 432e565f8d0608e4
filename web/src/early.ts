/**
 * Requests the data of the first screen while its libraries still load: the signed-in user, then the first
 * sandboxes. A script of its own that loads no other; `service/early-answers.ts` hands the answers on.
 */
import type { EarlyAnswers, WithEarlyAnswers } from './service/early-answers.ts';

const SIGN_IN = '/v1/sign-in';
const LIST = '/v1/tools/Sandbox.ListSandboxes';
/** As `service/sandbox-list.ts` sends it. */
const FIRST_PAGE = '{"page":1,"page_size":100}';

const opensList = location.pathname === '/' || location.pathname === '/sandboxes';
// A ticket signs in first.
if (location.hash === '') (globalThis as WithEarlyAnswers).earlyAnswers = ask();

function ask(): EarlyAnswers {
  const signIn = fetch(SIGN_IN, { headers: { 'x-sandhaven-request': '1' } });
  const list = signIn.then(({ ok }) => (ok && opensList ? askForList() : null));
  // Whoever takes an answer hears of its failure.
  for (const answer of [signIn, list]) answer.catch(() => {});
  return new Map<string, Promise<Response | null>>([
    [`GET ${SIGN_IN} `, signIn],
    [`POST ${LIST} ${FIRST_PAGE}`, list],
  ]);
}

function askForList(): Promise<Response> {
  const team = sessionStorage.getItem('sandhaven-team');
  const headers = {
    ...{ 'x-sandhaven-request': '1', 'content-type': 'application/json', accept: 'application/json' },
    ...(team === null ? {} : { 'sandhaven-team': team }),
  };
  return fetch(LIST, { method: 'POST', headers, body: FIRST_PAGE });
}
