/**
 * Supervisor of the egress program, which judges connections and queries by name. It is started for the first policy,
 * started again whenever it ends, and ended with the service.
 *
 * Invariant: the firewall leads machines to a program only while that program has the policies of all of them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { growingPauses } from '../../../../concurrency/patience.ts';
import type { Log } from '../../../../control/ports/index.ts';
import { SandhavenError } from '../../../../model/errors.ts';
import { blockedIPv4 } from '../../../../model/network/public-addresses.ts';
import type { NetworkReport } from '../../../../model/network/traffic.ts';
import { startProgram } from '../../../start-program.ts';
import { CommandRefused, type Conversation, converse, type EgressProgram } from './conversation.ts';
import type { EgressCommand, EgressPolicy, EgressPorts } from './messages.ts';

export interface Egress {
  /** Puts the rules of an address in force, also for its open connections. Throws `unavailable`. */
  set(policy: EgressPolicy): Promise<void>;
  /** Forgets the rules of an address and ends its connections. */
  drop(address: string): Promise<void>;
  close(): Promise<void>;
}

/** Ports that machines are led to, and resolvers that the program asks. */
export interface EgressTarget extends EgressPorts {
  resolvers: string[];
}

export interface EgressDependencies {
  start(): Promise<EgressProgram>;
  /** Leads machines with rules to these ports, or with null nowhere. */
  lead(target: EgressTarget | null): Promise<void>;
  /** Returns the host's resolvers at this moment. */
  resolvers(): string[];
  onEvents(events: NetworkReport[]): void;
  log: Log;
}

export interface EgressPlace {
  launcherPath: string;
  egressPath: string;
  /** Address that it listens on. */
  gateway: string;
  uid: number;
  /** Arguments of the launcher that put it into the fence. */
  fence: string[];
}

/** Time for a caller to wait for a program that is being started. */
const PATIENCE_MS = 10_000;
/** Longest pause after a start that failed. */
const LONGEST_PAUSE_MS = 10_000;
/** Longest pause after the end of a program that machines were led to: all that have rules for names wait for the next. */
const LONGEST_GAP_MS = 500;
/** A program that ran this long is started again without a pause. */
const STEADY_MS = 60_000;
const RESOLVERS_INTERVAL_MS = 3_000;

export function createEgress({ start, lead, resolvers, onEvents, log }: EgressDependencies): Egress {
  const wanted = new Map<string, EgressPolicy>();
  /** Present attempt to have a program with all policies; null before the first policy. */
  let current: Promise<Conversation> | null = null;
  /** Pauses after starts that failed, one after the other, and after ends. */
  let [afterFailure, afterEnd] = [growingPauses(LONGEST_PAUSE_MS), growingPauses(LONGEST_GAP_MS)];
  const closing = new AbortController();

  /** Resolves after the next of these pauses; rejects when all is closed. */
  const pause = (pauses: Generator<number, never>) =>
    sleep(pauses.next().value, undefined, { signal: closing.signal });

  /** Callers wait for an attempt, and fail with it; the pause after a failed one is nobody's. */
  function attempt(begin: Promise<unknown>): Promise<Conversation> {
    const made = begin.then(open);
    current = made;
    made.catch((error) => {
      if (closing.signal.aborted) return;
      log.warn('the egress program could not be started', { reason: String(error) });
      pause(afterFailure).then(
        () => void attempt(Promise.resolve()),
        () => {},
      );
    });
    return made;
  }

  async function open(): Promise<Conversation> {
    closing.signal.throwIfAborted();
    const conversation = await converseWith(await start(), onEvents);
    const startedAt = performance.now();
    try {
      const known = resolvers();
      await conversation.send({ resolvers: known });
      await Promise.all([...wanted.values()].map((policy) => setIn(conversation, policy)));
      await lead({ ...conversation.ports, resolvers: known });
      afterFailure = growingPauses(LONGEST_PAUSE_MS);
      const watch = watchResolvers(conversation, known);
      void conversation.ended.then((reason) => {
        clearInterval(watch);
        if (performance.now() - startedAt > STEADY_MS) afterEnd = growingPauses(LONGEST_GAP_MS);
        if (!closing.signal.aborted) again(reason);
      });
      return conversation;
    } catch (error) {
      conversation.kill();
      throw error;
    }
  }

  /** A policy that the program refuses leaves its machine with nothing, and is no obstacle to others. */
  async function setIn(conversation: Conversation, policy: EgressPolicy): Promise<void> {
    await conversation.send({ set: policy }).catch((error) => {
      if (!(error instanceof CommandRefused)) throw error;
      log.error('the egress program refuses a policy', { sandbox: policy.sandbox, reason: error.message });
    });
  }

  function again(reason: string): void {
    log.warn('the egress program has ended; it is started again', { reason });
    const shut = lead(null).catch((error) =>
      log.warn('the way to the egress program is still open', { reason: String(error) }),
    );
    attempt(shut.then(() => pause(afterEnd)));
  }

  function running(): Promise<Conversation> {
    return current ?? attempt(Promise.resolve());
  }

  /** Passes on a change of `wanted`. A program that fails it is replaced by one that gets all that is wanted. */
  async function settle(command: EgressCommand): Promise<void> {
    const conversation = await running();
    await conversation.send(command).catch(async (error) => {
      if (error instanceof CommandRefused) throw error;
      conversation.kill();
      await conversation.ended;
      await running();
    });
  }

  function watchResolvers(conversation: Conversation, first: string[]): NodeJS.Timeout {
    let known = first;
    const look = async (): Promise<void> => {
      const present = resolvers();
      if (present.join() === known.join()) return;
      known = present;
      await lead({ ...conversation.ports, resolvers: present });
      await conversation.send({ resolvers: present });
    };
    const fail = (error: unknown) => log.warn('new resolvers could not be used', { reason: String(error) });
    return setInterval(() => void look().catch(fail), RESOLVERS_INTERVAL_MS).unref();
  }

  return {
    set(policy) {
      wanted.set(policy.address, policy);
      return patiently(settle({ set: policy }));
    },

    async drop(address) {
      if (!wanted.delete(address) || current === null) return;
      await patiently(settle({ drop: { address } }));
    },

    async close() {
      closing.abort();
      const conversation = await current?.catch(() => null);
      await conversation?.close();
    },
  };
}

async function converseWith(
  program: EgressProgram,
  onEvents: EgressDependencies['onEvents'],
): Promise<Conversation> {
  try {
    return await converse(program, onEvents);
  } catch (error) {
    program.kill('SIGKILL');
    throw error;
  }
}

async function patiently(work: Promise<void>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('no egress program runs')), PATIENCE_MS);
  try {
    await Promise.race([work, late]);
  } catch (error) {
    throw new SandhavenError(
      'unavailable',
      'The network policy could not be put in force.',
      { hint: 'Run `sandhaven doctor` on the host, then try again.' },
      error,
    );
  } finally {
    clearTimeout(timer);
  }
}

/** Variables by which OpenSSL's users name the authorities that a host trusts; the program reads them like those. */
const TRUST_VARIABLES = ['SSL_CERT_FILE', 'SSL_CERT_DIR'];

/**
 * Starts the program through the launcher, so that it is inside the fence. Its user is the first id of the slot that gives the
 * gateway its address: locked for this instance alone, so no other program of the host has it.
 */
export function startEgressProgram(place: EgressPlace): Promise<EgressProgram> {
  const { launcherPath, egressPath, gateway, uid, fence } = place;
  const args = [
    'exec',
    ...[...fence, '--', egressPath],
    ...['--gateway', gateway],
    ...['--public-except', blockedIPv4.join(',')],
    ...['--uid', String(uid), '--gid', String(uid)],
  ];
  return startProgram(launcherPath, args, { input: true, detached: true, env: trustEnvironment() });
}

/** The rest of the service's environment has secrets. */
function trustEnvironment(): Record<string, string> {
  const present = TRUST_VARIABLES.map((name) => [name, process.env[name] ?? '']);
  return Object.fromEntries(present.filter(([, value]) => value !== ''));
}
