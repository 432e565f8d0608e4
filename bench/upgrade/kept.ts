/** What has to outlast the replacement of the service: programs, sessions and files of sandboxes. */
import type { Sandhaven } from '../../sdk/src/index.ts';
import { failureOf, LOAD_FILE, LOAD_SESSION } from './load.ts';

export interface LongCall {
  /** Milliseconds of performance.now(). */
  ended: number;
  /** null when it succeeded. */
  failure: string | null;
}

export interface Outcome {
  /** Of so many sandboxes. */
  sandboxes: number;
  /** Of all sandboxes: programs that go on, and the longest pause between two of their steps. */
  programs: number;
  longestPauseSeconds: number;
  sessions: number;
  sessionCommands: number;
  files: number;
  /** Files of the load, and those of them with their last acknowledged content, or later. */
  loadFiles: number;
  written: number;
  /** null without one. */
  longCall: LongCall | null;
  /** Its program goes on beyond its call. */
  longProgram: boolean;
}

/** Notes the time ten times a second. */
const PROGRAM = `import sys, time
with open(sys.argv[1], "a", 1) as out:
    while True:
        print(time.time(), file=out)
        time.sleep(0.1)
`;
const LONG_CALL_SECONDS = 120;
const content = (sandbox: string) => `kept of ${sandbox}\n`.repeat(1_000);

export async function prepare(client: Sandhaven, count: number): Promise<string[]> {
  const sandboxes: string[] = [];
  for (let made = 0; made < count; made++) {
    const { id: sandbox } = await client.createSandbox({
      ...{ cpu: 1, memory_gb: 1, disk_gb: 1, auto_stop_minutes: 0 },
    });
    sandboxes.push(sandbox);
    await client.writeFile({ sandbox, path: 'kept.txt', content: content(sandbox) });
    await client.writeFile({ sandbox, path: 'steps.py', content: PROGRAM });
    const command = 'setsid python3 steps.py program > /dev/null 2>&1 &';
    await client.runCommand({ sandbox, command });
    for (const session_id of [LOAD_SESSION, 'kept', 'busy'])
      await client.createSession({ sandbox, session_id });
    await client.runSessionCommand({ sandbox, session_id: 'kept', command: 'VALUE=kept; cd /tmp' });
    const busy = { sandbox, session_id: 'busy', command: 'cd /workspace; python3 steps.py session' };
    await client.runSessionCommand({ ...busy, async_exec: true });
  }
  return sandboxes;
}

/** Begins a call that outlasts the measurement, of a program that notes its steps. */
export async function callLong(client: Sandhaven, sandbox: string): Promise<LongCall> {
  const parameters = { sandbox, command: 'python3 steps.py long', timeout_seconds: LONG_CALL_SECONDS };
  const failure = await client.runCommand(parameters).then(() => null, failureOf);
  return { ended: performance.now(), failure };
}

/** @param written Last acknowledged content of the load's files. */
export async function examine(
  client: Sandhaven,
  sandboxes: readonly string[],
  written: ReadonlyMap<string, number>,
): Promise<Omit<Outcome, 'longCall'>> {
  const outcome = { programs: 0, sessions: 0, sessionCommands: 0, files: 0, written: 0 };
  const pauses: number[] = [];
  for (const sandbox of sandboxes) {
    const program = await stepsOf(client, sandbox, 'program');
    pauses.push(program.longestPauseSeconds);
    outcome.programs += Number(program.goesOn);
    outcome.sessionCommands += Number((await stepsOf(client, sandbox, 'session')).goesOn);
    const state = { sandbox, session_id: 'kept', command: 'echo $VALUE in $PWD' };
    outcome.sessions += Number((await client.runSessionCommand(state)).output === 'kept in /tmp\n');
    outcome.files += Number(
      (await client.readFile({ sandbox, path: 'kept.txt' })).content === content(sandbox),
    );
    const acknowledged = written.get(sandbox);
    if (acknowledged === undefined) continue;
    const found = Number((await client.readFile({ sandbox, path: LOAD_FILE })).content);
    outcome.written += Number(found >= acknowledged);
  }
  const [first = ''] = sandboxes;
  const longProgram = await stepsOf(client, first, 'long').then(
    ({ goesOn }) => goesOn,
    () => false,
  );
  const counts = { sandboxes: sandboxes.length, loadFiles: written.size };
  return { ...counts, ...outcome, longestPauseSeconds: Math.max(...pauses), longProgram };
}

/** Two looks: a program that goes on has taken steps between them. */
async function stepsOf(client: Sandhaven, sandbox: string, file: string) {
  const read = async () => {
    const { stdout } = await client.runCommand({ sandbox, command: `cat ${file} && sleep 0.5` });
    return stdout.trim().split('\n').map(Number);
  };
  const [before, after] = [await read(), await read()];
  const gaps = after.slice(1).map((time, at) => time - (after[at] ?? time));
  return { goesOn: after.length > before.length, longestPauseSeconds: Math.max(0, ...gaps) };
}
