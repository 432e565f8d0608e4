/** Resolves the `sandbox` parameter to its row: by id, by name, or the only sandbox when omitted. */
import { notFound, SandhavenError } from '../../model/errors.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import { ownerIdOf, type User } from '../../model/user.ts';
import { concerns } from '../audit/scope.ts';
import type { SandboxStore } from '../ports/index.ts';

const NAMED_IN_ERROR = 10;

/** Rejects with `not_found`; with `ambiguous_sandbox` when the name is omitted and the caller has none or several. */
export async function resolveSandbox(
  store: Pick<SandboxStore, 'find' | 'names'>,
  caller: User,
  reference: string | undefined,
): Promise<Sandbox> {
  const { only } = caller;
  const wanted = reference ?? only?.sandboxId ?? (await soleSandbox(store, caller));
  const sandbox = await store.find(ownerIdOf(caller), wanted);
  if (sandbox && (only === undefined || only.sandboxId === sandbox.id)) {
    concerns(sandbox.id);
    return sandbox;
  }
  throw notFound(
    'sandbox',
    `There is no sandbox '${wanted}'.`,
    only
      ? 'The token opens one sandbox: leave `sandbox` out.'
      : 'Call Sandbox.ListSandboxes to see the names and ids there are.',
  );
}

async function soleSandbox(store: Pick<SandboxStore, 'names'>, caller: User): Promise<string> {
  const found = await store.names(ownerIdOf(caller), NAMED_IN_ERROR + 1);
  const [only] = found;
  if (only && found.length === 1) return only.id;
  if (!only) {
    throw new SandhavenError('ambiguous_sandbox', 'No sandbox was named, and there is none.', {
      parameter: 'sandbox',
      hint: 'Call Sandbox.CreateSandbox first.',
    });
  }
  const names = found.slice(0, NAMED_IN_ERROR).map(({ name }) => `'${name}'`);
  const more = found.length > NAMED_IN_ERROR ? ' and more' : '';
  throw new SandhavenError(
    'ambiguous_sandbox',
    `No sandbox was named, and there are several: ${names.join(', ')}${more}.`,
    { parameter: 'sandbox', hint: 'Give the name or the id of one of them as `sandbox`.' },
  );
}
