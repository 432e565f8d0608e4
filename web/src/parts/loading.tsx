/** Holds the place of what is being loaded. */
import { Skeleton, VisuallyHidden } from '@mantine/core';

const WIDTHS = ['92%', '78%', '85%', '64%', '88%', '71%'];

export function Loading({ what, lines = 6 }: { what: string; lines?: number }) {
  return (
    <div className="stack" role="status">
      <VisuallyHidden>Loading {what}</VisuallyHidden>
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={line} height={18} width={WIDTHS[line % WIDTHS.length]} radius="sm" />
      ))}
    </div>
  );
}
