/**
 * What an attack of the hostile suite is: one file in `attacks/`, one thing that a member or a sandbox does to
 * take what belongs to others. The suite runs it beside a well-behaved user, and watches that user, the
 * service and the host; an attack asserts nothing about them itself.
 */
import type { Person } from '../support/people.ts';
import type { Service } from '../support/service.ts';

export interface Ground {
  /** The service under attack, in a process of its own. */
  service: Service;
  /** The attacker: a member, with a key of their own. */
  mallory: Person;
  /** The attacker's started sandbox, 1 vCPU and 1 GB, by id. */
  sandbox: string;
}

export interface Attack {
  name: string;
  /** Begins what the attack needs, once, before anything is measured: a server inside the sandbox, a file. */
  prepare?(ground: Ground): Promise<void>;
  /**
   * Attacks until the signal is aborted, then ends at once, leaving no connection, timer or process of its own. Being
   * refused or cut off is no failure: it goes on trying.
   */
  run(ground: Ground, signal: AbortSignal): Promise<void>;
}
