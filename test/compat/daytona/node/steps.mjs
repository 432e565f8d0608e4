/** Named checks, one after another, each printed as a line of JSON: {step, ok, detail}. The first line names all: {planned}. */
import { setTimeout as sleep } from 'node:timers/promises';

const LIMIT_MS = 90_000;

/** A check; `since` is the first generation whose client has the call. */
export function step(name, run, since = '0') {
  return { name, run, since };
}

/** Runs those that a generation has. Without a sandbox, which the first makes, no other is run. */
export async function runSteps(steps, client) {
  const own = steps.filter(({ since }) => !isBefore(client.version, since));
  print({ planned: own.map(({ name }) => name) });
  for (const { name, run } of own) {
    await Promise.race([run(client), tooLong()]).then(
      () => print({ step: name, ok: true, detail: '' }),
      (error) => print({ step: name, ok: false, detail: describe(error) }),
    );
    if (!client.sandbox) return;
  }
}

/** Returns the error that a call rejects with. */
export async function rejection(promise) {
  const error = await promise.then(
    () => null,
    (reason) => reason,
  );
  if (error === null) throw new Error('the call succeeded, and was to fail');
  return error;
}

/** Waits until a value is there. */
export async function until(find, tries = 100) {
  for (let left = tries; left > 0; left--) {
    const found = await find();
    if (found) return found;
    await sleep(100);
  }
  throw new Error(`not so within ${tries / 10} s: ${find}`);
}

async function tooLong() {
  await sleep(LIMIT_MS, undefined, { ref: false });
  throw new Error(`no answer within ${LIMIT_MS / 1_000} s`);
}

export function isBefore(version, since) {
  return version.localeCompare(since, 'en', { numeric: true }) < 0;
}

function describe(error) {
  const status = error?.statusCode === undefined ? '' : ` (${error.statusCode})`;
  return `${error?.name ?? 'not an error'}${status}: ${error?.message ?? error}`.slice(0, 600);
}

function print(line) {
  console.log(JSON.stringify(line));
}
