/** Bounds of webhooks: their number, their queues, and the requests that deliver events. */
import { KiB } from '../units.ts';

const HOUR_MS = 60 * 60_000;

export const webhooksLimits = {
  webhooks: {
    /** Webhooks of one owner, those for everybody counting as one owner's; and of the installation. */
    perOwner: 10,
    total: 100,
    urlChars: 2_048,
    /** Undelivered events of one webhook; beyond it the oldest are dropped, and counted. */
    queued: 1_000,
    /** Events of one webhook that are over, kept for the record; and those that a list shows. */
    kept: 100,
    shown: 100,
    /** Text of a reason in an event. */
    reasonChars: 300,
    /** Ports of receivers that no operator has named. */
    ports: [443, 8_443] as readonly number[],

    /** Deliveries in flight in one process. */
    atOnce: { total: 32, perOwner: 4 },
    /** From the lookup of the name to the status. */
    attemptMs: 10_000,
    /** Part of an answer's body that is read, and thrown away. */
    answerBytes: KiB,
    answerHeaderBytes: 8 * KiB,
    /** Time after which a delivery that a process took and never settled is due again; longer than an attempt. */
    claimMs: 30_000,
    /** Interval of looking for events. */
    turnMs: 1_000,
    retry: { firstMs: 5_000, factor: 4, mostMs: 6 * HOUR_MS, jitter: 0.2 },
    /** Time of failures after which an event, and its webhook, are given up. */
    giveUpMs: 72 * HOUR_MS,
    /** Time for which a replaced secret signs beside the new one. */
    overlapMs: 24 * HOUR_MS,
    /** Pause between two events about one quota of one owner. */
    refusalMs: 60_000,
  },
} as const;
