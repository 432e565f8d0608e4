/** The terminals of a sandbox: shells with a screen that keep running without viewers. */
import { Empty } from '../../parts/empty.tsx';
import { useActing } from '../../shell/team-items.tsx';
import { NeedsStart } from '../needs-start.tsx';
import { Terminals } from './terminals.tsx';

export function TerminalTab() {
  const { viewer } = useActing();
  if (viewer) {
    return (
      <Empty icon="terminal" title="Terminals are for members">
        Viewers cannot change anything, and everybody in a terminal can type into it.
      </Empty>
    );
  }
  return (
    <NeedsStart what="Terminals">
      <Terminals />
    </NeedsStart>
  );
}
