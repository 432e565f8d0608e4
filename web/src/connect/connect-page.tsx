/** Not there yet. */
export function ConnectPage() {
  return null;
}
