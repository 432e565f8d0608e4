/** Not there yet. */
export function AccessTab() {
  return null;
}
