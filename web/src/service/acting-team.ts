/**
 * The team that this tab acts for, or the owner that an admin looks inside of. Changing it loads the page
 * anew, so that no answer for one owner is shown as another's.
 */
const KEY = 'sandhaven-team';

/** @returns its id; null: the signed-in user. */
export function actingTeam(): string | null {
  return sessionStorage.getItem(KEY);
}

/** @param owner Id of a team, or of another user for an admin who looks inside; null for the user. */
export function actFor(owner: string | null, path = '/sandboxes'): void {
  if (owner === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, owner);
  // Open screens belong to the previous owner.
  window.location.assign(path);
}
