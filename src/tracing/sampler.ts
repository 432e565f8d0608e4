/** Decides which traces are kept. Only first spans are asked about: nothing begins beneath one that is not kept. */
import { type Context, trace } from '@opentelemetry/api';
import { type Sampler, SamplingDecision, type SamplingResult } from '@opentelemetry/sdk-trace';
import type { Sampling } from '../model/tracing/tracing-options.ts';

const keep: SamplingResult = { decision: SamplingDecision.RECORD_AND_SAMPLED };
const leaveOut: SamplingResult = { decision: SamplingDecision.NOT_RECORD };

/**
 * The library's sampler by ratio judges the trace id. A caller who chooses the id would choose the decision, so this one draws
 * lots.
 */
export function samplerOf({ ratio, parentBased }: Sampling): Sampler {
  return {
    shouldSample(context: Context): SamplingResult {
      const parent = trace.getSpanContext(context);
      if (parent && (!parent.isRemote || parentBased)) return parent.traceFlags === 1 ? keep : leaveOut;
      return Math.random() < ratio ? keep : leaveOut;
    },
    toString: () => `Sampler{${ratio}, ${parentBased ? 'parent-based' : 'by ratio alone'}}`,
  };
}
