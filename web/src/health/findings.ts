/** Findings of the doctor on a screen that changes while it is read: none jumps, and none goes away for a moment. */
import type { Health } from '../service/records.ts';

export type Finding = NonNullable<Health['doctor']>['findings'][number];

const worst = ['fail', 'warn', 'ok'] as const;

/** Returns the names in their order at first: the worst findings on top. */
export function firstOrder(findings: Finding[]): string[] {
  return findings
    .toSorted((a, b) => worst.indexOf(a.status) - worst.indexOf(b.status))
    .map(({ name }) => name);
}

/** Returns newer findings in the order of names that was shown; new names come last. */
export function inOrder(findings: Finding[], names: string[]): Finding[] {
  const placeOf = ({ name }: Finding) => (names.includes(name) ? names.indexOf(name) : names.length);
  return findings.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** Returns the health with the findings that were shown, where it has none: another replica has yet to examine its host. */
export function withKnownDoctor(health: Health, shown: Health | undefined): Health {
  return { ...health, doctor: health.doctor ?? shown?.doctor ?? null };
}
