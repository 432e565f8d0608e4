/** POST /sandboxes/{id}/fork: sandboxes that start from the files of another, and end at a time of their own. */
import type { SandboxView } from '../../../catalog/base/sandbox-view.ts';
import { type ErrorCode, invalidArgument, SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import type { DaytonaCall as Call } from '../../daytona/base/call.ts';
import { errorOf, type PlainError } from '../base/errors.ts';
import { shown, startedAnswer } from './answer.ts';
import { type Completion, complete, USUAL_SECONDS } from './create.ts';

type Fork = { sandbox: Record<string, unknown> } | { error: PlainError };

/** As ForkSandbox answers. */
interface Forks {
  sandboxes: SandboxView[];
  failed: { code: ErrorCode; detail: string }[];
}

export async function fork(call: Call): Promise<Fork[]> {
  const seconds = secondsIn(call.body['timeout']);
  const { id, wake = false } = await shown(call);
  const completion = { wakes: wake, seconds, isPublic: await call.services.publicPorts.isOpen(id) };
  const forked = await call.tool('Sandbox.ForkSandbox', { sandbox: id, count: call.body['count'] });
  const { sandboxes, failed } = forked as unknown as Forks;
  return [
    ...(await Promise.all(sandboxes.map((view) => completed(call, view, completion)))),
    ...failed.map(({ code, detail }) => ({ error: errorOf(code, detail) })),
  ];
}

async function completed(call: Call, { id }: SandboxView, completion: Completion): Promise<Fork> {
  try {
    await complete(call, id, completion);
    return { sandbox: await startedAnswer(call, await shown(call, id)) };
  } catch (error) {
    if (!(error instanceof SandhavenError)) throw error;
    return { error: errorOf(error.code, error.message) };
  }
}

/** Is checked first: of many forks none can take a wrong one. */
function secondsIn(timeout: unknown): number {
  const seconds = timeout ?? USUAL_SECONDS;
  const { max } = limits.deadlineSeconds;
  if (typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= 1 && seconds <= max)
    return seconds;
  throw invalidArgument('timeout', `timeout must be 1 to ${max} seconds.`);
}
