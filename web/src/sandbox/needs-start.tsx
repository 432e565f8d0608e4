/** Stands in for a tab whose work needs a started sandbox. */
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { Empty } from '../parts/empty.tsx';
import { useSandboxActions } from '../sandboxes/use-actions.tsx';
import { useActing } from '../shell/team-items.tsx';
import { useSandbox } from './sandbox.ts';

export function NeedsStart({ what, children }: { what: string; children: ReactNode }) {
  const sandbox = useSandbox();
  const { act, question } = useSandboxActions();
  const { viewer } = useActing();
  if (sandbox.state === 'started') return children;
  return (
    <Empty icon="play" title={`${what} can be seen while the sandbox runs`}>
      <div className="stack" style={{ alignItems: 'center' }}>
        <span>
          It is {sandbox.operation ?? sandbox.state}
          {sandbox.state_reason ? `: ${sandbox.state_reason}` : '.'}
        </span>
        <Button
          loading={sandbox.operation !== undefined}
          disabled={viewer}
          title={viewer ? 'Viewers cannot change anything.' : undefined}
          onClick={() => act('start', [sandbox])}
        >
          Start it
        </Button>
      </div>
      {question}
    </Empty>
  );
}
