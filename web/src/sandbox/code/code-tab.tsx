/** Not there yet. */
export function CodeTab() {
  return null;
}
