/** Findings of the doctor on a screen that changes while it is read. */
import { describe, expect, it } from 'vitest';
import { firstOrder, inOrder, withKnownDoctor } from '../../web/src/health/findings.ts';

type Status = 'ok' | 'warn' | 'fail';
const finding = (name: string, status: Status) => ({ name, status, found: name, advice: null });

describe('findings', () => {
  it('have the worst on top at first', () => {
    const findings = [finding('kernel', 'ok'), finding('disk', 'warn'), finding('ports', 'fail')];
    expect(firstOrder(findings)).toEqual(['ports', 'disk', 'kernel']);
  });

  it('stay where they stand when one gets worse, and a new one comes last', () => {
    const newer = [finding('new', 'fail'), finding('kernel', 'fail'), finding('disk', 'ok')];
    const names = inOrder(newer, ['ports', 'disk', 'kernel']).map(({ name }) => name);
    expect(names).toEqual(['disk', 'kernel', 'new']);
  });

  it('stay while a replica has none yet', () => {
    const doctor = { checked_at: '2026-01-02T03:04:05.000Z', findings: [finding('disk', 'ok')] };
    const newer = { ...doctor, findings: [finding('disk', 'fail')] };
    const health = (examined: typeof doctor | null) => ({ samples: [], doctor: examined }) as never;
    expect(withKnownDoctor(health(null), health(doctor)).doctor).toEqual(doctor);
    expect(withKnownDoctor(health(newer), health(doctor)).doctor).toEqual(newer);
    expect(withKnownDoctor(health(null), undefined).doctor).toBeNull();
  });
});
