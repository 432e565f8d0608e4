/**
 * Attacks in a process of their own. Real attackers have machines of their own, so theirs has the lowest priority:
 * what they compute costs the service nothing, and what they send costs it everything.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack, Ground } from './attack.ts';
import { weigh } from './weight.ts';

const folder = join(import.meta.dirname, 'attacks');
const PREPARE_TIMEOUT_MS = 120_000;
const END_TIMEOUT_MS = 60_000;
/** Time to clean up. Attackers do not wait for their last answers, some of which take a minute: they hang up. */
const HANG_UP_MS = 15_000;
const LOWEST_PRIORITY = 19;
const RETRY_MS = 100;
const SHARE_BACK_MS = 20_000;

/** All there are, by the names of their files. */
export const attackNames = readdirSync(folder)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -'.ts'.length))
  .toSorted();

/** Plain data of a Ground: what crosses to the attackers' process. */
export type Reach = Pick<Ground, 'mallory' | 'sandbox'> & {
  service: Pick<Ground['service'], 'url' | 'dataDir' | 'pid'>;
};

export interface Attackers {
  begin(): void;
  /** Stops them and waits until they have ended or hung up. Fails when an attack failed. */
  end(): Promise<void>;
}

/** Resolves once all of them are prepared. */
export async function prepareAttacks(names: readonly string[], reach: Reach): Promise<Attackers> {
  const child = fork(import.meta.filename, [JSON.stringify({ names, reach })], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // A session of its own, whose programs the kernel weighs apart from those of this one.
    detached: true,
  });
  const failed = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`attackers ended with ${code}`)),
  );
  await Promise.race([once(child, 'message', { signal: AbortSignal.timeout(PREPARE_TIMEOUT_MS) }), failed]);
  failed.catch(() => {});
  return { begin: () => void child.send('begin'), end: () => ended(child) };
}

async function ended(child: ChildProcess): Promise<void> {
  const timer = setTimeout(() => child.kill('SIGKILL'), END_TIMEOUT_MS);
  const exit = once(child, 'exit');
  if (child.connected) child.send('end');
  const [code, signal] = child.exitCode === null ? await exit : [child.exitCode, null];
  clearTimeout(timer);
  if (code !== 0) throw new Error(`The attackers' process ended with ${code ?? signal}.`);
}

/** The attackers' process. */
async function attack({ names, reach }: { names: string[]; reach: Reach }): Promise<void> {
  weigh(LOWEST_PRIORITY);
  process.on('disconnect', () => process.exit(1));
  const attacks = await Promise.all(
    names.map(async (name) => (await import(join(folder, `${name}.ts`))).attack as Attack),
  );
  const ground = reach as Ground;
  for (const { prepare } of attacks) await prepared(() => prepare?.(ground));
  const stop = new AbortController();
  const begun = Promise.withResolvers<void>();
  process.on('message', (word) => (word === 'begin' ? begun.resolve() : stop.abort()));
  process.send?.('prepared');
  await begun.promise;
  const going = new Set(attacks);
  const ended = Promise.all(
    attacks.map((one) => persist(one, ground, stop.signal).then(() => going.delete(one))),
  );
  await once(stop.signal, 'abort');
  await Promise.race([ended, sleep(HANG_UP_MS)]);
  for (const { name } of going) console.info(`hung up: ${name}`);
  // What an attack left open would keep the process.
  process.exit(0);
}

/** The connections of the attacker's last attack are his until they are closed, some seconds: they take his share. */
async function prepared(prepare: () => Promise<void> | undefined): Promise<void> {
  for (const deadline = Date.now() + SHARE_BACK_MS; ; await sleep(RETRY_MS)) {
    try {
      return await prepare();
    } catch (error) {
      if (Date.now() > deadline || !String(error).includes('resource_exhausted')) throw error;
    }
  }
}

/** An attacker who is cut off tries again. What cut him off is shown once. */
async function persist({ name, run }: Attack, ground: Ground, signal: AbortSignal): Promise<void> {
  let shown = false;
  while (!signal.aborted) {
    try {
      await run(ground, signal);
    } catch (error) {
      if (!shown) console.warn(`${name}: ${error instanceof Error ? (error.cause ?? error) : error}`);
      shown = true;
      await sleep(RETRY_MS);
    }
  }
}

if (process.argv[1] === import.meta.filename) await attack(JSON.parse(process.argv[2] ?? '{}'));
