/**
 * Findings of the doctor. Its checks start programs, so they are made once for all who ask within a minute, and one at a time.
 */
import { limits } from '../../model/limits.ts';
import type { Clock, Log } from '../ports/index.ts';

export interface DoctorFinding {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  found: string;
  advice?: string;
}

export interface Examined {
  checkedAt: number;
  findings: DoctorFinding[];
}

type Examine = () => Promise<DoctorFinding[]>;

export class Examinations {
  readonly #clock: Clock;
  readonly #log: Log;
  #examine: Examine | null = null;
  #running: Promise<Examined> | null = null;
  #begunAt = Number.NEGATIVE_INFINITY;
  #known: Examined | null = null;
  /** The failure of unasked examinations was logged. */
  #isLogged = false;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Sets the examination of this host. */
  by(examine: Examine): void {
    this.#examine = examine;
  }

  /** Resolves to findings that are a minute old at most; null where nothing can examine. A failure is tried again at once. */
  async recent(): Promise<Examined | null> {
    if (this.#running || !this.#examine) return this.#running;
    if (this.#known && !this.#isOld(this.#known.checkedAt)) return this.#known;
    return this.#begin(this.#examine);
  }

  /**
   * Returns the newest findings at once, and begins to make new ones a minute after the beginning of the last attempt. Null
   * before there are any.
   */
  known(): Examined | null {
    if (this.#examine && !this.#running && this.#isOld(this.#begunAt))
      this.#begin(this.#examine).catch((error: unknown) => {
        if (!this.#isLogged) this.#log.warn('the doctor could not examine this host', { error });
        this.#isLogged = true;
      });
    return this.#known;
  }

  #isOld(since: number): boolean {
    return since + limits.health.doctorMs <= this.#clock.now();
  }

  #begin(examine: Examine): Promise<Examined> {
    this.#begunAt = this.#clock.now();
    this.#running = this.#run(examine, this.#begunAt).finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #run(examine: Examine, checkedAt: number): Promise<Examined> {
    const found = await examine();
    this.#known = { checkedAt, findings: found.slice(0, limits.health.findings).map(bounded) };
    this.#isLogged = false;
    return this.#known;
  }
}

/** Texts may be of a program that failed, and a finding is sent again and again. */
function bounded({ name, status, found, advice }: DoctorFinding): DoctorFinding {
  const most = limits.health.findingChars;
  const finding = { name, status, found: found.slice(0, most) };
  return advice === undefined ? finding : { ...finding, advice: advice.slice(0, most) };
}
