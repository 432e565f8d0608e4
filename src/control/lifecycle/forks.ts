/**
 * Forks: new sandboxes with the settings of another and a copy of its disk, as it was at one moment. The captured disk that
 * they are made from goes once they are there.
 */
import { mapBounded } from '../../concurrency/in-portions.ts';
import { invalidArgument, SandhavenError } from '../../model/errors.ts';
import { newForkId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import { ownerIdOf, type User } from '../../model/user.ts';
import { concerns } from '../audit/scope.ts';
import type { Quotas } from '../callers/quotas.ts';
import type { Log, SandboxStore } from '../ports/index.ts';
import { resolveSandbox } from '../turns/resolve.ts';
import type { Captures } from './capture.ts';
import type { Creation } from './creation.ts';

export interface ForkRequest {
  count: number;
  /** Of the only one, or what the names of several begin with; generated names by default. */
  name?: string;
}

/** One of those that were asked for. */
export type Forked = { sandbox: Sandbox } | { error: SandhavenError };

export interface ForkDependencies {
  store: Pick<SandboxStore, 'find' | 'names'>;
  captures: Captures;
  creation: Pick<Creation, 'createLike'>;
  quotas: Pick<Quotas, 'assertRoomFor'>;
  log: Log;
}

export class Forks {
  readonly #deps: ForkDependencies;

  constructor(dependencies: ForkDependencies) {
    this.#deps = dependencies;
  }

  /**
   * Captures the disk once and starts so many sandboxes, each of which succeeds or fails by itself. Rejects with the first
   * failure when all fail, and with `resource_exhausted` before anything happens when the quota has no room for all.
   */
  async fork(caller: User, reference: string | undefined, { count, name }: ForkRequest): Promise<Forked[]> {
    const { store, captures, quotas } = this.#deps;
    const { disks } = captures;
    assertNamesFit(count, name);
    const source = await resolveSandbox(store, caller, reference);
    await quotas.assertRoomFor(ownerIdOf(caller), source.resources, count);
    const captureId = newForkId();
    const { sandbox } = await captures.take(source, captureId);
    try {
      const numbers = Array.from({ length: count }, (_, index) => index + 1);
      const forked = await mapBounded(numbers, limits.fork.atOnce, (number) =>
        this.#one(caller, sandbox, captureId, nameOf(name, number, count)),
      );
      const [first] = forked;
      if (first && 'error' in first && forked.every((one) => 'error' in one)) throw first.error;
      for (const one of forked) if ('sandbox' in one) concerns(one.sandbox.id);
      return forked;
    } finally {
      await disks.drop(captureId).catch((error: unknown) => {
        this.#deps.log.warn('the disk of a fork could not be dropped; it is collected later', { error });
      });
    }
  }

  async #one(caller: User, source: Sandbox, captureId: string, name: string | undefined): Promise<Forked> {
    try {
      return { sandbox: await this.#deps.creation.createLike(caller, source, captureId, name) };
    } catch (error) {
      if (!(error instanceof SandhavenError)) throw error;
      return { error };
    }
  }
}

function nameOf(name: string | undefined, number: number, count: number): string | undefined {
  return name === undefined || count === 1 ? name : `${name}-${number}`;
}

function assertNamesFit(count: number, name = ''): void {
  const longest = nameOf(name, count, count)?.length ?? 0;
  const most = limits.sandboxNameChars;
  if (longest <= most) return;
  throw invalidArgument(
    'name',
    `name is too long: with its number it would have ${longest} characters, and at most ${most} are allowed.`,
    'Give a shorter name, or none.',
  );
}
