/** The question before a user is deleted, which names what goes. */
import type { OwnedByUser, User } from '../service/records.ts';

export function deletionOf(
  { name, email }: Pick<User, 'name' | 'email'>,
  { sandboxes, snapshots, secrets, webhooks, keys, teams }: OwnedByUser,
): { title: string; body: string } {
  const going = [
    counted(sandboxes, 'sandbox and its disk', 'sandboxes and their disks'),
    counted(snapshots, 'snapshot', 'snapshots'),
    counted(secrets, 'secret', 'secrets'),
    counted(webhooks, 'webhook', 'webhooks'),
    counted(keys, 'key', 'keys'),
  ].filter((part) => part !== null);
  const goes = going.length > 0 ? `, with ${going.join(', ')}.` : '. They own nothing.';
  const stay = counted(teams, 'team that they are in stays', 'teams that they are in stay');
  return {
    title: `Delete ${name}?`,
    body: `${email} is deleted for good${goes}${stay === null ? '' : ` ${stay}.`}`,
  };
}

function counted(count: number, one: string, several: string): string | null {
  return count === 0 ? null : `${count} ${count === 1 ? one : several}`;
}
