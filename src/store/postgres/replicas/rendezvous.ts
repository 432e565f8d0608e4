/**
 * Divides work among replicas by rendezvous hashing (Thaler and Ravishankar, "Using name-based mappings to increase hit
 * rates", 1998): whoever has the highest hash with the work's name does it. When one goes, only its work moves.
 */
import { hash } from 'node:crypto';

/** Returns null without replicas. */
export function ownerAmong(replicas: readonly string[], work: string): string | null {
  let owner: string | null = null;
  let highest = '';
  for (const replica of replicas) {
    const rank = hash('md5', `${replica} ${work}`, 'hex');
    if (rank <= highest) continue;
    owner = replica;
    highest = rank;
  }
  return owner;
}
