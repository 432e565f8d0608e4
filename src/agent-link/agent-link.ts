/**
 * Host's end of the agent protocol: every operation is one channel and one round trip.
 * Replies are hostile input; a reply that does not fit its schema gives `unavailable`.
 */
import type { AgentLink } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import { type Ask, call } from './call.ts';
import { type AnswerSink, Exchange, type OpenChannel } from './exchange.ts';
import { executionOf } from './execution.ts';
import { unavailable } from './faults.ts';
import { filesOf } from './files.ts';
import { ProtocolError } from './frames.ts';
import { SpokenVersions } from './live/spoken-versions.ts';
import { processesOf } from './processes.ts';
import { openReadStream } from './read-stream.ts';
import { emptyReply, helloReply, parseReply } from './replies.ts';
import { searchOf } from './search.ts';
import { sessionsOf } from './sessions.ts';
import { terminalsOf } from './terminals.ts';
import { trustOf } from './trust.ts';
import { tunnelsOf } from './tunnels.ts';

/** Protocol versions of the host. An agent that has run since before an upgrade may support only the first. */
export const PROTOCOL_VERSIONS = [1, 2, 3, 4, 5, 6];

export interface AgentLinkOptions {
  openChannel: OpenChannel;
  /** Certificates (PEM) that `trust` gives to systems that have none of their own. */
  roots?: string | null;
}

export function createAgentLink({ openChannel, roots = null }: AgentLinkOptions): AgentLink {
  // A request names the version that introduced its operation, so an older agent serves what it supports.
  const ask: Ask = async (id, options, parse) => {
    const request = { v: 1, ...options.request };
    const answer = await call(openChannel, id, { ...options, request });
    return guarded(() => parse(answer));
  };
  const versions = new SpokenVersions();
  const greet = async (id: string, generation: number) => {
    const request = { op: 'hello', versions: PROTOCOL_VERSIONS, sandbox_id: id, generation };
    const { reply } = await call(openChannel, id, {
      request,
      timeoutMs: limits.helloTimeoutMs,
      reply: helloReply,
    });
    const { version, sandbox_id, generation: own } = reply;
    if (!PROTOCOL_VERSIONS.includes(version) || sandbox_id !== id || own !== generation) {
      throw unavailable('Another sandbox answers in its place.');
    }
    versions.note(id, { generation, version });
    return reply;
  };
  const versionOf = async (id: string, generation: number) =>
    versions.of(id, generation) ?? (await greet(id, generation)).version;
  return {
    hello: async (id, generation) => ({ persistence: (await greet(id, generation)).persistence ?? null }),
    watch: (id, signal) => watch(openChannel, id, signal),
    readStream: (id, query, signal) => openReadStream(openChannel, id, 1, query, signal),
    ...executionOf(ask, versionOf),
    ...filesOf(ask),
    ...processesOf(openChannel),
    ...tunnelsOf(openChannel, ask),
    ...searchOf(ask),
    ...sessionsOf(ask, versionOf),
    ...terminalsOf(openChannel, ask),
    ...trustOf(ask, roots),
  };
}

function guarded<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof ProtocolError) {
      throw unavailable("The sandbox's agent does not keep to the protocol.", error);
    }
    throw error;
  }
}

/** Resolves at every end of the channel. */
function watch(openChannel: OpenChannel, id: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const sink: AnswerSink = {
      item() {
        throw new ProtocolError('an item on a watch');
      },
      reply(json) {
        parseReply(emptyReply, json);
        exchange.relax();
        return true;
      },
      data() {
        throw new ProtocolError('data on a watch');
      },
      done: () => resolve(),
      failed: () => resolve(),
    };
    const exchange = new Exchange(sink, signal);
    exchange.expect(limits.helloTimeoutMs, () => unavailable("The sandbox's agent does not answer."));
    void exchange.open(openChannel, id).then(() => {
      exchange.send({ op: 'watch', v: 1 });
    });
  });
}
