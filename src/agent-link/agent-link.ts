/**
 * The host's end of the agent protocol: every operation is one channel and one round trip.
 * Replies are hostile input; what does not fit its schema gives `unavailable`.
 */
import type { AgentLink } from '../control/ports.ts';
import { limits } from '../model/limits.ts';
import { type Ask, call } from './call.ts';
import { type AnswerSink, Exchange, type OpenChannel } from './exchange.ts';
import { executionOf } from './execution.ts';
import { unavailable } from './faults.ts';
import { filesOf } from './files.ts';
import { ProtocolError } from './frames.ts';
import { openReadStream } from './read-stream.ts';
import { emptyReply, helloReply, parseReply } from './replies.ts';

/** What this side speaks. */
export const PROTOCOL_VERSION = 1;

export function createAgentLink({ openChannel }: { openChannel: OpenChannel }): AgentLink {
  const ask: Ask = async (id, options, parse) => {
    const request = { v: PROTOCOL_VERSION, ...options.request };
    const answer = await call(openChannel, id, { ...options, request });
    return guarded(() => parse(answer));
  };
  return {
    async hello(id, generation) {
      const request = { op: 'hello', versions: [PROTOCOL_VERSION], sandbox_id: id, generation };
      const { reply } = await call(openChannel, id, {
        request,
        timeoutMs: limits.helloTimeoutMs,
        reply: helloReply,
      });
      if (reply.version !== PROTOCOL_VERSION || reply.sandbox_id !== id || reply.generation !== generation) {
        throw unavailable('Another sandbox answers in its place.');
      }
    },
    watch: (id, signal) => watch(openChannel, id, signal),
    readStream: (id, query, signal) => openReadStream(openChannel, id, PROTOCOL_VERSION, query, signal),
    ...executionOf(ask),
    ...filesOf(ask),
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

/** Resolves when the channel ends, for whatever reason. */
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
      exchange.send({ op: 'watch', v: PROTOCOL_VERSION });
    });
  });
}
