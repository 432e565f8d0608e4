/** Callers that create, use and delete sandboxes at random while parts of the cluster are killed. */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { between, bytesFrom, oneOf, type Random } from '../../support/random.ts';
import { type Answer, call } from '../../support/service.ts';
import type { Known, Ledger } from './ledger.ts';

export interface Callers {
  /** Calls that were made, by tool and outcome. */
  counts: Map<string, number>;
  /** Resolves when `goesOn` is false and every call was answered. Rejects at an answer that may never come. */
  run(goesOn: () => boolean): Promise<void>;
}

export interface CallersOptions {
  service: { url: string; apiKey: string };
  ledger: Ledger;
  random: Random;
  /** Callers at once. */
  count: number;
}

const MOST_SANDBOXES = 8;
const MOST_FILE_BYTES = 200_000;
/** Longer than any operation takes with its take-over. */
const ANSWER_TIMEOUT_MS = 120_000;
/** Between two attempts of one creation, whose key makes it one. */
const AGAIN_MS = 500;
/** Longer than any part is dead with what its return takes. */
const REFUSED_MS = 300_000;

export function createCallers({ service, ledger, random, count }: CallersOptions): Callers {
  const counts = new Map<string, number>();
  let made = 0;
  let creating = 0;

  /** Null when the connection broke off, or no replica took the call. */
  async function attempt(
    tool: string,
    parameters: Record<string, unknown>,
    headers: Record<string, string> = {},
  ): Promise<Answer | null> {
    const late = delay(ANSWER_TIMEOUT_MS, 'late' as const, { ref: false });
    const answered = call(service, tool, parameters, headers).catch((error: unknown) => {
      if (error instanceof TypeError || error instanceof SyntaxError) return null;
      throw error;
    });
    const answer = await Promise.race([answered, late]);
    if (answer === 'late') throw new Error(`${tool} ${JSON.stringify(parameters)} is not answered`);
    const code = answer?.body['code'];
    const key = `${tool} ${outcomeOf(answer)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (code === 'internal') throw new Error(`${tool}: ${JSON.stringify(answer?.body)}`);
    return answer;
  }

  /** Repeats one creation under its key until its outcome is known. */
  async function create(): Promise<void> {
    creating += 1;
    try {
      const headers = { 'idempotency-key': `creation-${++made}` };
      const until = performance.now() + REFUSED_MS;
      for (;;) {
        const answer = await attempt('CreateSandbox', { cpu: 1, memory_gb: 1, disk_gb: 1 }, headers);
        if (answer?.status === 200) return ledger.created(String(answer.body['id']));
        if (performance.now() > until)
          throw new Error(`no creation: ${JSON.stringify(answer?.body ?? null)}`);
        await delay(AGAIN_MS);
      }
    } finally {
      creating -= 1;
    }
  }

  async function write({ id, files }: Known): Promise<void> {
    const content = bytesFrom(random, between(random, 1, MOST_FILE_BYTES)).toString('base64');
    const path = `file-${++made}`;
    const answer = await attempt('WriteFile', { sandbox: id, path, content });
    if (answer?.status === 200) files.set(path, sha256(content));
  }

  async function append({ id, lines }: Known): Promise<void> {
    const line = `line-${++made}`;
    lines.set(line, false);
    const answer = await attempt('RunCommand', { sandbox: id, command: `echo ${line} >> lines` });
    if (answer?.body['exit_code'] === 0) lines.set(line, true);
  }

  /** Repeats a deletion until its outcome is known: one that nobody may use any more would keep its place for ever. */
  async function remove(known: Known): Promise<void> {
    known.deleteRequested = true;
    const until = performance.now() + REFUSED_MS;
    for (;;) {
      const answer = await attempt('DeleteSandbox', { sandbox: known.id });
      if (answer?.status === 200 || answer?.status === 404) return ledger.deleted(known.id);
      if (performance.now() > until) throw new Error(`no deletion: ${JSON.stringify(answer?.body ?? null)}`);
      await delay(AGAIN_MS);
    }
  }

  async function operate(): Promise<void> {
    const [first, ...others] = ledger.usable();
    const dice = between(random, 0, 100);
    const hasRoom = ledger.all().length + creating < MOST_SANDBOXES;
    if (!first || (dice < 12 && hasRoom)) {
      if (hasRoom) await create();
      else await delay(AGAIN_MS);
      return;
    }
    const known = oneOf(random, [first, ...others]);
    const sandbox = known.id;
    if (dice < 35) return write(known);
    if (dice < 55) return append(known);
    if (dice < 64) return void (await attempt('StopSandbox', { sandbox }));
    if (dice < 80) return void (await attempt('StartSandbox', { sandbox }));
    if (dice < 88) return void (await attempt('ArchiveSandbox', { sandbox }));
    if (dice < 95) {
      const sizes = { cpu: between(random, 1, 4), memory_gb: between(random, 1, 4) };
      return void (await attempt('ResizeSandbox', { sandbox, ...sizes }));
    }
    return remove(known);
  }

  return {
    counts,
    async run(goesOn) {
      const one = async () => {
        while (goesOn()) await operate();
      };
      await Promise.all(Array.from({ length: count }, one));
    },
  };
}

/** With the reason where that says more than the code. */
function outcomeOf(answer: Answer | null): string {
  if (answer === null) return 'broken';
  if (answer.status === 200) return 'ok';
  const { code, detail } = answer.body;
  return code === 'resource_exhausted' ? `${code} (${detail})` : String(code ?? answer.status);
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
