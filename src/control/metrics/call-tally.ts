/** Calls by action and outcome, with their durations. Actions are names of the code, never of a caller's. */
import type { AuditOutcome } from '../../model/audit.ts';
import { limits } from '../../model/limits.ts';
import { callBounds, DurationTally } from '../base/duration-tally.ts';

export interface ActionTally {
  readonly durations: DurationTally;
  readonly outcomes: ReadonlyMap<AuditOutcome, number>;
}

interface Entry extends ActionTally {
  readonly outcomes: Map<AuditOutcome, number>;
}

export class CallTally {
  readonly #byAction = new Map<string, Entry>();

  /** Leaves out an action beyond the bound: no defect elsewhere makes this grow. */
  note(action: string, outcome: AuditOutcome, durationMs: number): void {
    const entry = this.#byAction.get(action) ?? this.#first(action);
    if (!entry) return;
    entry.durations.add(durationMs);
    entry.outcomes.set(outcome, (entry.outcomes.get(outcome) ?? 0) + 1);
  }

  get byAction(): ReadonlyMap<string, ActionTally> {
    return this.#byAction;
  }

  #first(action: string): Entry | null {
    if (this.#byAction.size >= limits.metrics.actions) return null;
    const entry = { durations: new DurationTally(callBounds), outcomes: new Map() };
    this.#byAction.set(action, entry);
    return entry;
  }
}
