/** Not there yet. */
export function GitTab() {
  return null;
}
