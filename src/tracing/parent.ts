/** The caller's span in the headers of a request, as W3C Trace Context has it. A malformed header counts as none. */
import {
  type Context,
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  TraceFlags,
  trace,
} from '@opentelemetry/api';

/** Later versions may add fields at the end. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** A longer list is no one's: the standard has it cut at 512 characters. */
const STATE_CHARS = 512;

/** Returns a context with the caller's span, of which the ids and the flag for sampling count; an empty one without it. */
export function callersContext(parent: string | undefined, state: string | undefined): Context {
  const [, version, traceId = '', spanId = '', flags = '', rest] = TRACEPARENT.exec(parent ?? '') ?? [];
  if (version === undefined || (version === '00' && rest !== undefined)) return ROOT_CONTEXT;
  const isSampled = (Number.parseInt(flags, 16) & TraceFlags.SAMPLED) !== 0;
  const context = {
    traceId,
    spanId,
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(state !== undefined && state.length <= STATE_CHARS ? { traceState: createTraceState(state) } : {}),
  };
  return isSpanContextValid(context) ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT;
}
