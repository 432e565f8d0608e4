/** Not there yet. */
export function PeoplePage() {
  return null;
}
