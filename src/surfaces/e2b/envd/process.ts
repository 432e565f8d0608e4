/** The procedures of processes: each outlives its client, as here. */
import { auditActions } from '../../../model/audit.ts';
import { invalidArgument, notFound } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { type ConnectError, NotHere } from '../base/errors.ts';
import { keepAliveIn, type Message, messageOf, messagesOf, timeoutIn } from './connect.ts';
import type { InsideCall } from './filesystem.ts';
import type { StreamCall } from './streams.ts';

type Plain = (call: InsideCall, message: Message) => Promise<Message>;

export const process: Record<string, Plain> = {
  List: list,
  SendInput: async (call, { process, input }) => write(call, referenceOf(process), input),
  CloseStdin: async (call, { process }) => {
    await send(call, referenceOf(process), { close_input: true });
    return {};
  },
  SendSignal: sendSignal,
  Update: update,
};

/** Reads a line before the program begins, so that no output is lost before somebody follows it. */
const GATE = 'read -r _;';
const MOST_SECONDS = limits.detached.timeoutSeconds.max;

/** Starts a program, and follows it. */
export async function start(streaming: StreamCall): Promise<ConnectError | null> {
  const { call } = streaming;
  const message = await messageOf(call.request.raw);
  const { cmd, args = [], envs = {}, cwd } = recordIn(message['process']);
  if (typeof cmd !== 'string' || !Array.isArray(args))
    throw invalidArgument('process', 'process needs cmd and args.');
  const size = message['pty'] ? recordIn(recordIn(message['pty'])['size']) : null;
  const program = `exec ${[cmd, ...args].map((word) => quoted(String(word))).join(' ')}`;
  const timeoutMs = timeoutIn(call.request);
  const started = await call.action('StartProcess', {
    ...{ sandbox: call.sandbox, user: call.user, env: envs, tag: message['tag'] },
    command: size ? program : `${GATE} ${program}`,
    cwd: cwd === '' ? undefined : cwd,
    timeout_seconds: timeoutMs === null ? MOST_SECONDS : Math.min(MOST_SECONDS, Math.ceil(timeoutMs / 1_000)),
    ...(size ? { cols: size['cols'], rows: size['rows'] } : {}),
  });
  const pid = started['process'] as string;
  // Clients of before 0.3.0 say nothing, and may write.
  const takesInput = message['stdin'] !== false && message['stdin'] !== undefined;
  const begin = async () => {
    if (!size) await send(call, pid, { input: '\n', close_input: !takesInput });
  };
  return follow(streaming, pid, size !== null, begin);
}

/** Follows a process that runs already; older output is not wanted. */
export async function connect(streaming: StreamCall): Promise<ConnectError | null> {
  const message = await messageOf(streaming.call.request.raw);
  const reference = referenceOf(message['process']);
  const found = (await processesOf(streaming.call)).find(
    ({ pid, tag }) => String(pid) === reference || tag === reference,
  );
  if (found?.status !== 'running') throw missing(reference);
  return follow(streaming, String(found.pid), found.cols !== null, async () => {}, found.output_bytes);
}

async function follow(
  { call, stream, visit }: StreamCall,
  pid: string,
  hasTerminal: boolean,
  begin: () => Promise<void>,
  from: number | null = null,
): Promise<ConnectError | null> {
  let outcome: ConnectError | null = null;
  const names: Parameters<typeof visit>[0] = [
    auditActions.processView,
    auditActions.processLeave,
    'sandboxes:read',
  ];
  await visit(names, async (begun, signal) => {
    let beginning: Promise<void> | undefined;
    const end = await call.services.processes.view(
      call.request.caller,
      call.sandbox,
      { process: pid, from },
      {
        begun() {
          begun();
          void stream.send(event('start', { pid: Number(pid) }));
          stream.keepAlive(keepAliveIn(call.request), event('keepalive', {}));
          beginning = begin();
          beginning.catch(() => {});
        },
        show({ stream: name, bytes }) {
          const data = { [hasTerminal ? 'pty' : name]: bytes.toString('base64') };
          return stream.send(event('data', data));
        },
      },
      signal,
    );
    await beginning;
    if (end.timedOut) outcome = { code: 'deadline_exceeded', message: 'The process ran past its time.' };
    else void stream.send(event('end', endOf(end)));
  });
  return outcome;
}

function event(name: string, value: Message): Message {
  return { event: { [name]: value } };
}

function endOf({ exitCode, signal }: { exitCode: number; signal: string | null }): Message {
  if (signal === null) return { exitCode, exited: true, status: `exit status ${exitCode}` };
  const status = `signal: ${signal.replace(/^SIG/, '').toLowerCase()}`;
  return { exitCode: -1, exited: false, status, error: status };
}

interface Shown {
  pid: number;
  tag: string | null;
  command: string;
  status: string;
  output_bytes: number;
  cols: number | null;
}

async function processesOf(call: InsideCall): Promise<Shown[]> {
  return (await call.action('ListProcesses', { sandbox: call.sandbox }))['processes'] as Shown[];
}

async function list(call: InsideCall): Promise<Message> {
  const running = (await processesOf(call)).filter(({ status }) => status === 'running');
  return {
    processes: running.map(({ pid, tag, command }) => {
      const [cmd = '', ...args] = wordsOf(command);
      return { pid, ...(tag === null ? {} : { tag }), config: { cmd, args, envs: {} } };
    }),
  };
}

async function write(call: InsideCall, reference: string, input: unknown): Promise<Message> {
  const { stdin, pty } = recordIn(input);
  await send(call, reference, { input: stdin ?? pty ?? '', encoding: 'base64' });
  return {};
}

async function send(call: InsideCall, process: string, more: Message): Promise<void> {
  await call.action('SendProcessInput', { sandbox: call.sandbox, process, ...more });
}

/** Input of one process as a stream of messages, of which the first names it. */
export async function streamInput(call: InsideCall): Promise<Message> {
  let reference: string | null = null;
  for await (const { event: wrapped, ...plain } of messagesOf(call.request.raw)) {
    const message = recordIn(wrapped ?? plain);
    if (message['start']) reference = referenceOf(recordIn(message['start'])['process']);
    else if (message['data'] && reference !== null)
      await write(call, reference, recordIn(message['data'])['input']);
  }
  return {};
}

const signals: Record<string, string> = { SIGNAL_SIGKILL: 'KILL', SIGNAL_SIGTERM: 'TERM' };

async function sendSignal(call: InsideCall, { process, signal }: Message): Promise<Message> {
  const name = signals[String(signal)];
  if (name === undefined) throw invalidArgument('signal', 'signal must be SIGNAL_SIGTERM or SIGNAL_SIGKILL.');
  const reference = referenceOf(process);
  const isRunning = ({ pid, tag, status }: Shown) =>
    status === 'running' && (String(pid) === reference || tag === reference);
  if (!(await processesOf(call)).some(isRunning)) throw missing(reference);
  await call.action('SignalProcess', { sandbox: call.sandbox, process: reference, signal: name });
  return {};
}

async function update(call: InsideCall, { process, pty }: Message): Promise<Message> {
  if (!pty) throw new NotHere('Only the size of a terminal changes.');
  const { cols, rows } = recordIn(recordIn(pty)['size']);
  await call.action('ResizeProcess', { sandbox: call.sandbox, process: referenceOf(process), cols, rows });
  return {};
}

function referenceOf(selector: unknown): string {
  const { pid, tag } = recordIn(selector);
  return String(pid ?? tag ?? '');
}

function missing(reference: string) {
  return notFound('process', `process with pid ${reference} not found`);
}

function recordIn(value: unknown): Message {
  return typeof value === 'object' && value !== null ? (value as Message) : {};
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Returns the words of a command that `start` has made; its end may be missing. */
function wordsOf(command: string): string[] {
  const text = command.replace(`${GATE} `, '');
  if (!text.startsWith("exec '")) return ['/bin/bash', '-c', text];
  const words = text.slice('exec '.length).matchAll(/'((?:[^']|'\\'')*)(?:'|$)/g);
  return [...words].map(([, word = '']) => word.replaceAll("'\\''", "'"));
}
