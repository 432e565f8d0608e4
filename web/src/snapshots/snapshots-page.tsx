/** Not there yet. */
export function SnapshotsPage() {
  return null;
}
