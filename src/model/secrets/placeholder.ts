/** Text that stands for a secret inside one sandbox. Another sandbox has another, and neither says anything about the value. */
import { createHmac } from 'node:crypto';

/** @param key Of the installation, so that nothing is stored and all replicas have the same. */
export function placeholderOf(key: string, sandboxId: string, secretId: string): string {
  const digest = createHmac('sha256', key).update(`${sandboxId} ${secretId}`).digest('hex');
  return `sandhaven-secret-${digest.slice(0, 32)}`;
}
