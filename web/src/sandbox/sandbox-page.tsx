/** Not there yet. */
export function SandboxPage() { return null; }
