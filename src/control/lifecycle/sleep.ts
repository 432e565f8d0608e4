/** Sleep of a caller's sandboxes, on request, when nobody uses them, and at their deadlines. Each falls asleep in its turn. */
import { invalidArgument } from '../../model/errors.ts';
import { decide } from '../../model/lifecycle.ts';
import type { Sandbox, SleepSetting } from '../../model/sandbox.ts';
import { cannotSleep, sleepsAt, usualSleep } from '../../model/sleep.ts';
import type { User } from '../../model/user.ts';
import type { Clock, MachineSleep, Runtime, SandboxStore } from '../ports/index.ts';
import type { Activity } from '../turns/activity.ts';
import { resolveSandbox } from '../turns/resolve.ts';
import type { Machines } from './machines.ts';

export interface SleepDependencies {
  store: SandboxStore;
  runtime: Pick<Runtime, 'sleep'>;
  machines: Pick<Machines, 'change'>;
  activity: Pick<Activity, 'begin'>;
  /** Seconds without activity after which sandboxes sleep that have no own number; 0: never. */
  usualSeconds: number;
  clock: Clock;
}

export interface Slept {
  sandbox: Sandbox;
  /** null for one that is awake. */
  since: number | null;
}

export class SandboxSleep {
  readonly #deps: SleepDependencies;

  constructor(dependencies: SleepDependencies) {
    this.#deps = dependencies;
  }

  /** Returns since when it sleeps; null for one that is awake. */
  since(id: string): number | null {
    return this.#deps.runtime.sleep?.since(id) ?? null;
  }

  /** Returns the time at which it falls asleep; null where it does not. */
  dueAt(sandbox: Parameters<typeof sleepsAt>[0] & { id: string }): number | null {
    if (!this.#deps.runtime.sleep || this.since(sandbox.id) !== null) return null;
    return sleepsAt(sandbox, this.#deps.usualSeconds);
  }

  /**
   * Puts a started sandbox to sleep in its turn.
   * @param options `stillWanted` is asked at the last moment: a use that begins from then on wakes it. `closes`: calls and
   *   connections that are open end, else none may be.
   */
  async begin(
    id: string,
    { stillWanted = () => true, closes }: { stillWanted?(sandbox: Sandbox): boolean; closes: boolean },
  ): Promise<Sandbox> {
    const sleep = this.#sleep();
    return this.#deps.machines.change(
      id,
      (sandbox) => {
        const decision = decide(sandbox, { type: 'use' });
        if (decision.kind === 'refused' && stillWanted(sandbox)) throw decision.error;
        return null;
      },
      async (sandbox) => {
        if (stillWanted(sandbox)) await sleep.begin(id, this.#deps.clock.now(), { closesChannels: closes });
      },
    );
  }

  /** Puts it to sleep now, whatever runs in it. */
  async pause(caller: User, reference: string): Promise<Slept> {
    const { id } = await resolveSandbox(this.#deps.store, caller, reference);
    const sandbox = await this.begin(id, { closes: true });
    return { sandbox, since: this.since(id) };
  }

  /** Wakes it; this counts as activity. */
  async resume(caller: User, reference: string): Promise<Slept> {
    const sleep = this.#sleep();
    const sandbox = await resolveSandbox(this.#deps.store, caller, reference);
    const decision = decide(sandbox, { type: 'use' });
    if (decision.kind === 'refused') throw decision.error;
    const end = this.#deps.activity.begin(sandbox.id);
    await sleep.wake(sandbox.id).finally(end);
    return { sandbox, since: this.since(sandbox.id) };
  }

  /** Changes the settings that are given. */
  async set(caller: User, reference: string, given: Partial<SleepSetting>): Promise<Slept> {
    const { afterSeconds, wakes } = given;
    if (afterSeconds === undefined && wakes === undefined) {
      throw invalidArgument(
        'after_seconds',
        'Nothing to change: neither after_seconds nor wake was given.',
        'Give one.',
      );
    }
    // Waking a stopped one needs no freezing.
    if (afterSeconds) this.#sleep();
    const { id } = await resolveSandbox(this.#deps.store, caller, reference);
    const sandbox = await this.#deps.machines.change(id, ({ sleep: before }) => {
      const { afterSeconds: seconds, wakes: does } = before ?? usualSleep;
      return { sleep: { afterSeconds: afterSeconds ?? seconds, wakes: wakes ?? does } };
    });
    return { sandbox, since: this.since(id) };
  }

  #sleep(): MachineSleep {
    const { sleep } = this.#deps.runtime;
    if (sleep) return sleep;
    throw cannotSleep();
  }
}
