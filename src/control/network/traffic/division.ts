/**
 * Division of the way out between owners. The kernel lets each owner pass a share in any case, and divides by arrival what is
 * left beyond the shares: a newcomer has its share with the first packet, and nothing is kept idle. Here the share follows
 * from what owners have used: those who want more than it divide what the others leave.
 */
import { limits } from '../../../model/limits.ts';
import type { Division } from '../../ports/index.ts';

/**
 * Returns the division for the next seconds.
 * @param used Bytes a second that each owner has used under the division `before`.
 * @param capacity Bytes a second of the link.
 */
export function divide(used: readonly number[], capacity: number, before: Division | null): Division {
  const { divided, hungry, noticeable } = limits.traffic;
  const whole = capacity * divided;
  const enough = hungry * (before?.each ?? whole / 2);
  const modest = used.filter((bytes) => bytes < enough);
  const left = whole - sum(modest);
  const wanting = used.length - modest.length;
  const each = Math.max(left / Math.max(2, wanting), whole / Math.max(2, used.length));
  const rest = left - wanting * each;
  const next = { each, rest: Math.max(rest, whole / 100) };
  const isClose = (a: number, b: number) => Math.abs(a - b) <= noticeable * b;
  return before && isClose(next.each, before.each) && isClose(next.rest, before.rest) ? before : next;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
