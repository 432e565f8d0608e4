/** Not there yet. */
export function DocumentsPage() {
  return null;
}
