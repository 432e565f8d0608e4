/** `sandhaven network`: its actions, and the log of a sandbox's network as it grows. */
import { setTimeout as sleep } from 'node:timers/promises';
import { getNetworkLog, type NetworkLogView, toLogRow } from '../../../administration/network-log.ts';
import { toCallArguments } from '../arguments.ts';
import { createAdminClient, readEvents } from '../client.ts';
import { type Connection, connectionOf, headersOf } from '../connection.ts';
import { flagIsSet } from '../flags.ts';
import type { CliIo, Command } from '../io.ts';
import { printProblem, table } from '../output.ts';
import type { Shape } from '../shape.ts';

type LogPage = NetworkLogView & { next_after: number; has_more: boolean };

const VERB = 'log';
const FOLLOW = ['--follow', '-f'];
const followHelp = `
  --follow, -f         continue with each new event, until an interrupt
`;
const PAUSE_MS = 1_000;

/** @param actions The command for the actions and their --help. */
export function network(actions: Command): Command {
  return {
    summary: actions.summary,
    shape: () => withFollow(actions.shape?.() ?? {}),
    async run(argv, io) {
      const [verb, ...rest] = argv;
      const asksHelp = rest.some((word) => word === '--help' || word === '-h');
      if (verb !== VERB || asksHelp || !rest.some((word) => FOLLOW.includes(word))) {
        const status = await actions.run(argv, io);
        if (verb === VERB && asksHelp) io.stdout.write(followHelp);
        return status;
      }
      const words = rest.filter((word) => !FOLLOW.includes(word));
      const { parameters, flags } = toCallArguments(getNetworkLog, words, { argument: 'sandbox' });
      return follow(await connectionOf(flags, io), parameters, flagIsSet(flags, 'json'), io);
    },
  };
}

function withFollow(shape: Shape): Shape {
  const log = shape.members?.[VERB];
  return {
    ...shape,
    members: { ...shape.members, [VERB]: { ...log, flags: { ...log?.flags, follow: 'none' } } },
  };
}

/** Prints the last events, then each new one, until an interrupt. Goes on after a restart of the service. */
async function follow(
  connection: Connection,
  parameters: Record<string, unknown>,
  json: boolean,
  io: CliIo,
): Promise<number> {
  const client = createAdminClient(connection);
  const print = createPrinter(parameters['refused'] === true, json, io);
  let after = parameters['after'];
  for (;;) {
    for await (const view of livePages(connection, String(parameters['sandbox'] ?? ''), io.signal)) {
      if (view) {
        print(view);
        after = view.events.at(-1)?.sequence ?? after;
        continue;
      }
      const asked = { ...parameters, ...(after === undefined ? {} : { after }) };
      const { result, problem } = await client(getNetworkLog, asked, { signal: io.signal });
      if (problem) return printProblem(problem, json, io);
      const page = result as unknown as LogPage;
      print(page);
      after = page.next_after;
    }
    await sleep(PAUSE_MS, undefined, { signal: io.signal });
  }
}

/** Yields null once the stream is open, and when it cannot be opened: then the call says why. */
async function* livePages(
  connection: Connection,
  sandbox: string,
  signal: AbortSignal,
): AsyncGenerator<NetworkLogView | null> {
  try {
    const response = await fetch(`${connection.url}/v1/events?network=${encodeURIComponent(sandbox)}`, {
      ...{ redirect: 'error', signal },
      headers: { ...headersOf(connection), accept: 'text/event-stream' },
    });
    yield null;
    if (!response.ok || !response.body) return;
    for await (const { event, data } of readEvents(response.body)) {
      if (event === 'network') yield JSON.parse(data) as NetworkLogView;
    }
  } catch (error) {
    if (signal.aborted) throw error;
  }
}

/** Returns a function that prints events which it has not printed yet. */
function createPrinter(refused: boolean, json: boolean, { stdout, stderr }: CliIo) {
  let last = 0;
  let isTitled = false;
  return ({ events, dropped }: NetworkLogView): void => {
    const fresh = events.filter(({ sequence, allowed }) => sequence > last && !(refused && allowed));
    last = Math.max(last, ...events.map(({ sequence }) => sequence));
    if (dropped > 0 && !json) stderr.write(`${dropped} more events are not kept.\n`);
    if (fresh.length === 0) return;
    if (json) {
      stdout.write(fresh.map((event) => `${JSON.stringify(event)}\n`).join(''));
      return;
    }
    const text = table(fresh.map(toLogRow));
    stdout.write(`${isTitled ? text.slice(text.indexOf('\n') + 1) : text}\n`);
    isTitled = true;
  };
}
