/** The context that a command uses. */
import { notFound, SandhavenError } from '../../../model/errors.ts';
import type { CliIo } from '../io.ts';
import { type Context, readContexts } from './context-file.ts';

export interface NamedContext extends Context {
  name: string;
}

/** Returns the context that is named, else the current one; null without either. */
export async function chosenContext(
  io: Pick<CliIo, 'env'>,
  name: string | undefined,
): Promise<NamedContext | null> {
  const { contexts, current } = await readContexts(io);
  const chosen = name ?? current;
  if (chosen === null) return null;
  const context = Object.hasOwn(contexts, chosen) ? contexts[chosen] : undefined;
  if (context) return { name: chosen, ...context };
  throw unknownContext(chosen, Object.keys(contexts));
}

export function unknownContext(name: string, known: string[]): SandhavenError {
  const hint =
    known.length === 0
      ? 'There is none yet: `sandhaven login URL` makes one.'
      : `There are ${known.join(', ')}.`;
  return notFound('context', `There is no context '${name}'.`, hint);
}

/** A command must not act on another service than the one that its own flag names. */
export function assertNothingElse({ env }: Pick<CliIo, 'env'>, context: string): void {
  const other = ['SANDBOX_API_URL', 'SANDBOX_API_KEY'].find((variable) => env[variable]);
  if (other === undefined) return;
  throw new SandhavenError('invalid_argument', `${other} is set, and takes precedence over a context.`, {
    parameter: 'context',
    hint: `Unset it to use the context '${context}', or leave --context out.`,
  });
}
