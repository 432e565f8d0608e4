/** An API whose changes come after a question whether this process may still make any. */
import type { Api } from './api.ts';

/** @param assert Throws when another replica may have taken the work over. */
export function fenced(api: Api, assert: () => void): Api {
  const first = <Given extends unknown[], T>(change: (...given: Given) => Promise<T>) => {
    return async (...given: Given): Promise<T> => {
      assert();
      return change(...given);
    };
  };
  return {
    ...api,
    create: first(api.create) as Api['create'],
    replace: first(api.replace) as Api['replace'],
    patch: first(api.patch) as Api['patch'],
    remove: first(api.remove),
  };
}
