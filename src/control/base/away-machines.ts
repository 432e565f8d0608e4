/**
 * Machines whose nodes do not answer, counted by looks: a count of looks needs no clock that may be set, and one of this
 * process stands still while the process does. A look that finds all nodes away counts for nothing: the control plane has
 * lost its network or its breath, and the machines go on.
 */
import type { Observed } from '../ports/index.ts';

interface Away {
  generation: number;
  /** Looks in a row that found its node away; 0 since it was seen again, or has ended. */
  looks: number;
  /** Looks since then. */
  quiet: number;
  /** Its sandbox is in error. */
  settled: boolean;
}

/** A node that is back reports the end of its machines some seconds later. */
const KEPT_LOOKS = 12;

export class AwayMachines {
  readonly #machines = new Map<string, Away>();

  /** Takes the result of one look. */
  look(observed: Iterable<Observed>): void {
    const away = new Map<string, number>();
    for (const { id, unreachable, allUnreachable, runningGeneration } of observed) {
      if (!unreachable || runningGeneration === null) continue;
      if (allUnreachable) return;
      away.set(id, runningGeneration);
    }
    for (const [id, machine] of this.#machines) {
      if (away.get(id) === machine.generation) continue;
      machine.looks = 0;
      machine.quiet += 1;
      if (machine.quiet > KEPT_LOOKS) this.#machines.delete(id);
    }
    for (const [id, generation] of away) {
      const before = this.#machines.get(id);
      if (before?.generation === generation && before.quiet === 0) before.looks += 1;
      else this.#machines.set(id, { generation, looks: 1, quiet: 0, settled: false });
    }
  }

  /** Returns those that so many looks in a row found away and that are not settled, with their generations. */
  awayFor(looks: number): { id: string; generation: number }[] {
    const due = [...this.#machines].filter(([, machine]) => machine.looks >= looks && !machine.settled);
    return due.map(([id, { generation }]) => ({ id, generation }));
  }

  settled(id: string, generation: number): void {
    const machine = this.#machines.get(id);
    if (machine?.generation === generation) machine.settled = true;
  }

  /** Returns those that were away a moment ago. */
  *seenAgain(): Iterable<string> {
    for (const [id, { quiet }] of this.#machines) if (quiet > 0) yield id;
  }

  /** Returns true for a machine whose node is away, or was a moment ago. */
  has(id: string, generation: number): boolean {
    return this.#machines.get(id)?.generation === generation;
  }
}
