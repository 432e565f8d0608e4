/** An hour of samples of one sandbox, a step apart: a ring of numbers of one size. */
import { limits } from '../../model/limits.ts';
import type { SandboxUsage } from '../ports/index.ts';

const { stepMs, samples: length } = limits.usage.history;

export interface UsageSample {
  /** Milliseconds since the epoch. */
  at: number;
  /** Of processors in use on average since the sample before; null where it is not known, like the others. */
  cores: number | null;
  memoryBytes: number | null;
  diskBytes: number | null;
}

export class Ring {
  /** NaN: not known. */
  readonly #cores = new Float32Array(length).fill(Number.NaN);
  readonly #memory = new Float64Array(length).fill(Number.NaN);
  readonly #disk = new Float64Array(length).fill(Number.NaN);
  /** Step of the last sample, counted from the epoch; and of the first that is kept. */
  #last = -1;
  #first = 0;
  #cpu: { ms: number; at: number } | null = null;

  /** Adds a sample; does nothing when its step has one. */
  add(now: number, { cpuMs, memoryBytes, diskBytes }: SandboxUsage): void {
    const isRate = this.#cpu !== null && cpuMs !== null && cpuMs >= this.#cpu.ms && now > this.#cpu.at;
    const cores = isRate ? ((cpuMs ?? 0) - (this.#cpu?.ms ?? 0)) / (now - (this.#cpu?.at ?? 0)) : null;
    if (!this.#put(now, cores, memoryBytes, diskBytes)) return;
    this.#cpu = cpuMs === null ? null : { ms: cpuMs, at: now };
  }

  /** Adds a sample of a sandbox that sleeps: as the last one, without a processor. Returns false without a last one. */
  rest(now: number): boolean {
    if (this.#last < 0) return false;
    const at = this.#last % length;
    this.#put(now, 0, this.#memory[at] ?? null, this.#disk[at] ?? null);
    this.#cpu = null;
    return true;
  }

  /** Returns true when no sample is of the last hour. */
  isOver(now: number): boolean {
    return this.#last < Math.floor(now / stepMs) - length;
  }

  /** Returns those of the last hour, oldest first. */
  samples(now: number): UsageSample[] {
    const from = Math.max(this.#first, Math.floor(now / stepMs) - length + 1);
    return Array.from({ length: Math.max(0, this.#last - from + 1) }, (_, after) => {
      const at = (from + after) % length;
      return {
        at: (from + after) * stepMs,
        cores: known(this.#cores[at]),
        memoryBytes: known(this.#memory[at]),
        diskBytes: known(this.#disk[at]),
      };
    });
  }

  /** Returns false when the step has a sample. Steps between that were missed are not known. */
  #put(now: number, cores: number | null, memory: number | null, disk: number | null): boolean {
    const step = Math.floor(now / stepMs);
    if (step <= this.#last) return false;
    if (this.#last < 0) this.#first = step;
    for (let missed = Math.max(this.#last + 1, step - length + 1); missed < step && this.#last >= 0; missed++)
      this.#set(missed, null, null, null);
    this.#set(step, cores, memory, disk);
    this.#last = step;
    this.#first = Math.max(this.#first, step - length + 1);
    return true;
  }

  #set(step: number, cores: number | null, memory: number | null, disk: number | null): void {
    this.#cores[step % length] = cores ?? Number.NaN;
    this.#memory[step % length] = memory ?? Number.NaN;
    this.#disk[step % length] = disk ?? Number.NaN;
  }
}

function known(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value;
}
