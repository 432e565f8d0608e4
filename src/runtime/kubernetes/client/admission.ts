/**
 * Creations in a namespace with a ResourceQuota: of several at once, the API server answers some with a conflict of the quota
 * itself (409, reason Conflict) once its own attempts are used up. Nothing was made then.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../../../model/limits.ts';
import { isBusy } from './failure.ts';

const { attempts, pauseMs } = limits.kubernetes.quotaConflicts;

/** Repeats a creation that such a conflict has refused. Rejects with it after some attempts. */
export async function untilAdmitted<T>(create: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await create();
    } catch (error) {
      if (!isBusy(error) || attempt === attempts) throw error;
      await delay(pauseMs * attempt);
    }
  }
}
