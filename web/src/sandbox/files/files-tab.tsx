/** Not there yet. */
export function FilesTab() {
  return null;
}
