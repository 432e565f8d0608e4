/**
 * Duplex whose incoming bytes are parsed within this thread's share for their source: the reader's work on each slice
 * is part of the slice's measured time.
 */
import { Duplex, type DuplexOptions, type Readable } from 'node:stream';
import type { Source } from './loop-share.ts';
import { Demand, intakeFrom, type PacedIntake } from './paced-intake.ts';

export abstract class PacedDuplex extends Duplex {
  readonly #demand: Demand;
  #intake: PacedIntake | null = null;

  constructor(options?: DuplexOptions) {
    super(options);
    this.#demand = new Demand(this);
  }

  /** Receives a slice; `pass` hands the reader's part on. Must not throw. */
  protected abstract arrived(slice: Buffer): void;
  /** Called after the last slice. */
  protected abstract ended(error: Error | null): void;

  protected takeFrom(stream: Readable, source: Source): void {
    this.#intake = intakeFrom(stream, {
      source,
      take: (slice) => this.arrived(slice),
      over: (error) => this.ended(error),
    });
    this.#demand.of(this.#intake);
  }

  protected takeNoMore(): void {
    this.#intake?.stop();
  }

  protected pass(bytes: Buffer): void {
    if (!this.push(bytes)) this.#demand.full();
  }

  override pause(): this {
    this.#demand.pause();
    return super.pause();
  }

  override resume(): this {
    super.resume();
    this.#demand.resume();
    return this;
  }

  override _read(): void {
    this.#demand.more();
  }
}
