/** The terminals of a sandbox: shells with a screen that go on when nobody looks. */
import { NeedsStart } from '../needs-start.tsx';
import { Terminals } from './terminals.tsx';

export function TerminalTab() {
  return (
    <NeedsStart what="Terminals">
      <Terminals />
    </NeedsStart>
  );
}
