/** Streams a call as server-sent events: each `progress` and `output`, then one `result` or `error`. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallContext } from '../../../catalog/tool.ts';
import type { Problem } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { jsonPieces } from '../../json/pieces.ts';
import { writePieces } from '../../json/write-pieces.ts';
import { patient } from '../slow-readers.ts';
import type { OutputEvents } from './output-events.ts';
import { event } from './server-event.ts';

export type Reporting = Pick<CallContext, 'progress' | 'live'>;

/** Makes what sends a program's output on the connection of an answer. */
export type OutputOn = (raw: FastifyReply['raw']) => OutputEvents;

export function wantsEventStream({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/event-stream') ?? false;
}

/**
 * @param call Receives the functions that report progress and output.
 * @param outputOn Chooses the form of output.
 * @param explain Builds the problem for the client.
 * @param signal Aborted when the client goes away.
 */
export async function streamCall(
  reply: FastifyReply,
  call: (reporting: Reporting) => Promise<unknown>,
  outputOn: OutputOn,
  explain: (error: unknown) => Problem,
  signal: AbortSignal,
): Promise<void> {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' });
  const output = outputOn(raw);
  patient.add(raw);
  const heartbeat = () => {
    if (!raw.writableNeedDrain) raw.write(': the call is in progress\n\n');
  };
  heartbeat();
  const timer = setInterval(heartbeat, limits.eventStreamHeartbeatMs);
  try {
    const progress: CallContext['progress'] = (update) => {
      // A client that does not read misses progress rather than filling memory.
      if (!raw.writableNeedDrain && !raw.writableEnded) raw.write(event('progress', update));
    };
    const result = await call({ progress, live: output });
    clearInterval(timer);
    patient.delete(raw);
    output.end();
    raw.write('event: result\ndata: ');
    await writePieces(raw, jsonPieces(result), signal);
    raw.write('\n\n');
  } catch (error) {
    raw.write(event('error', explain(error)));
  } finally {
    clearInterval(timer);
    patient.delete(raw);
    raw.end();
  }
}
