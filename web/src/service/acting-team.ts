/**
 * The team that this tab acts for. Changing it loads the page anew, so that no answer for one owner is shown as another's.
 */
const KEY = 'sandhaven-team';

/** @returns its id; null: the signed-in user. */
export function actingTeam(): string | null {
  return sessionStorage.getItem(KEY);
}

/** @param team Id of a team; null for the user. */
export function actFor(team: string | null): void {
  if (team === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, team);
  // What is open belongs to the owner before.
  window.location.assign('/sandboxes');
}
