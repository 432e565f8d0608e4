/** Not there yet. */
export function HealthPage() {
  return null;
}
