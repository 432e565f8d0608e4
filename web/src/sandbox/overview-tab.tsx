/** Not there yet. */
export function OverviewTab() { return null; }
