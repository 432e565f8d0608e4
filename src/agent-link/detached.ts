/**
 * Processes that outlive their caller. A viewer is a channel: it sees what is kept from its position on, then what is
 * printed; while its sink has no room, the channel is not read, and the program waits.
 */
import { z } from 'zod';
import type {
  AgentDetached,
  DetachedEnd,
  DetachedSink,
  DetachedSummary,
  LivePiece,
} from '../control/ports/index.ts';
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Ask, Call, Item } from './call.ts';
import { type AnswerSink, Exchange, type OpenChannel } from './exchange.ts';
import { ProtocolError } from './frames.ts';
import {
  emptyReply,
  milliseconds,
  namedStream,
  parseReply,
  printedBytes,
  processEnd,
  terminalSize,
  unavailable,
} from './replies.ts';
import type { AgentRequest } from './request.ts';
import { sizeOf } from './running-process.ts';

const { running, ended, viewersPerSandbox, tagChars, labelChars, inputMs } = limits.detached;

const pid = z.int().min(1).max(limits.listeningPort.pid);
const startReply = z.object({ pid, started_ms: milliseconds });
const viewReply = z.object({ pid, from: printedBytes });
const listReply = z.object({ busy: z.boolean() });

const end = processEnd.extend({ timed_out: z.boolean() });
const viewItem = z.union([namedStream, end]);

const listItem = z.object({
  pid,
  tag: z.string().max(tagChars).nullable(),
  /** Counted in UTF-16 units here, in characters by the agent. */
  label: z.string().max(2 * labelChars),
  started_ms: milliseconds,
  terminal: terminalSize.nullable(),
  viewers: z.int().min(0).max(viewersPerSandbox),
  output_bytes: printedBytes,
  end: end.extend({ ended_ms: milliseconds }).nullable(),
});

export function detachedOf(openChannel: OpenChannel, ask: Ask): AgentDetached {
  const tell = (id: string, request: AgentRequest, more: Partial<Call<object>> = {}) =>
    ask(id, { timeoutMs: limits.helloTimeoutMs, ...more, request, reply: emptyReply }, () => {});
  return {
    startDetached: (id, { user, argv, cwd, env, terminal, tag, label, timeoutMs }, signal) =>
      ask(
        id,
        {
          request: {
            ...{ op: 'process_start', user, argv, cwd, env, terminal: terminal && sizeOf(terminal) },
            ...{ tag, label, timeout_ms: timeoutMs },
          },
          timeoutMs: limits.helloTimeoutMs,
          reply: startReply,
          signal,
        },
        ({ reply }) => ({ pid: reply.pid, startedAtMs: reply.started_ms }),
      ),

    listDetached: (id, { timeoutMs = limits.helloTimeoutMs } = {}) =>
      ask(
        id,
        { request: { op: 'process_list' }, timeoutMs, reply: listReply, maxItems: running + ended },
        ({ items, reply }) => ({ processes: items.map(summary), busy: reply.busy, idleMs: null }),
      ),

    viewDetached: (id, { process, from }, sink, signal) =>
      view(openChannel, id, { op: 'process_view', process, from }, sink, signal),

    writeDetached: (id, process, bytes, { close }, signal) => {
      const options = { upload: bytes, timeoutMs: inputMs, timeoutError: unread, signal };
      return tell(id, { op: 'process_input', process, close }, options);
    },
    signalDetached: (id, process, signal) => tell(id, { op: 'process_signal', process, signal }),
    resizeDetached: (id, process, size) => tell(id, { op: 'process_resize', process, size: sizeOf(size) }),
    endDetached: (id, process, signal) => tell(id, { op: 'process_end', process }, { signal }),
  };
}

/** Resolves at the end of the process, once its sink has everything. */
function view(
  openChannel: OpenChannel,
  id: string,
  request: AgentRequest,
  viewer: DetachedSink,
  signal?: AbortSignal,
): Promise<DetachedEnd> {
  return new Promise((resolve, reject) => {
    let isOpen = false;
    /** Stream of the next data. */
    let named: LivePiece['stream'] | null = null;
    let outcome: DetachedEnd | null = null;
    const sink: AnswerSink = {
      talks: true,
      reply(json) {
        const { from } = parseReply(viewReply, json);
        exchange.relax();
        isOpen = true;
        viewer.begun(from);
        return true;
      },
      item(json) {
        const item = parseReply(viewItem, json);
        if (!isOpen || outcome) throw new ProtocolError('an item that has no place here');
        if ('stream' in item) named = item.stream;
        else outcome = endOf(item);
      },
      data(bytes) {
        if (!named || outcome) throw new ProtocolError('data that belongs to no stream');
        const room = viewer.show({ stream: named, bytes, leftOutBytes: 0 });
        if (room) exchange.pauseUntil(room);
      },
      done() {
        if (!outcome) throw new ProtocolError('no exit code before the end');
        resolve(outcome);
      },
      failed: reject,
    };
    const exchange = new Exchange(sink, signal);
    exchange.expect(limits.helloTimeoutMs, () => unavailable("The sandbox's agent does not answer."));
    void exchange.open(openChannel, id).then(() => exchange.send(request));
  });
}

function endOf({ exit_code, signal, timed_out }: z.output<typeof end>): DetachedEnd {
  return { exitCode: exit_code, signal, timedOut: timed_out };
}

function summary({ json }: Item): DetachedSummary {
  const item = parseReply(listItem, json);
  return {
    pid: item.pid,
    tag: item.tag,
    label: item.label,
    startedAtMs: item.started_ms,
    terminal: item.terminal,
    viewers: item.viewers,
    outputBytes: item.output_bytes,
    end: item.end && { ...endOf(item.end), endedAtMs: item.end.ended_ms },
  };
}

function unread(): Error {
  return new SandhavenError('timeout', 'The program has not read all of its input in time.', {
    hint: 'A part of it is written. Send less at a time to a program that reads slowly.',
  });
}
