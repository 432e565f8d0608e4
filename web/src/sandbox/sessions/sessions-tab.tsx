/** Not there yet. */
export function SessionsTab() {
  return null;
}
