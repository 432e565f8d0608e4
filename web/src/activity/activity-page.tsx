/** Not there yet. */
export function ActivityPage() {
  return null;
}
