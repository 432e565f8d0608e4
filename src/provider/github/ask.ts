/** One request to the API, in the version that this adapter knows. */
import * as http from '../http.ts';

const API_VERSION = '2022-11-28';

/** Fails like `ask` of every provider. */
export function ask(asked: http.Ask): Promise<http.Reply> {
  return http.ask({ ...asked, headers: { 'x-github-api-version': API_VERSION } });
}
