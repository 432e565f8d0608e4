/** Actions on all chosen sandboxes. */
import { Button, CloseButton, Paper } from '@mantine/core';
import type { Sandbox } from '@sandhaven/sdk';
import { counted } from '../format/quantity.ts';
import { useActing } from '../shell/team-items.tsx';
import { isAllowed } from './actions.ts';
import classes from './sandboxes.module.css';
import type { SandboxActions } from './use-actions.tsx';

interface BulkBarProps {
  chosen: Sandbox[];
  clear(): void;
  act: SandboxActions['act'];
}

/** Those that pause and wake are for one: a use wakes each by itself. */
const bulkActions = ['start', 'stop', 'archive', 'delete'] as const;

const labels = { start: 'Start', stop: 'Stop', archive: 'Archive', delete: 'Delete' };

export function BulkBar({ chosen, clear, act }: BulkBarProps) {
  const { viewer } = useActing();
  if (chosen.length === 0) return null;
  return (
    <Paper
      className={classes['bulk'] ?? ''}
      withBorder
      shadow="md"
      role="region"
      aria-label="Chosen sandboxes"
    >
      <strong className="numbers">{counted(chosen.length, 'chosen', 'chosen')}</strong>
      {bulkActions.map((action) => {
        const count = chosen.filter((one) => isAllowed(action, one)).length;
        return (
          <Button
            key={action}
            variant={action === 'delete' ? 'filled' : 'default'}
            color={action === 'delete' ? 'red' : 'accent'}
            disabled={viewer || count === 0}
            title={viewer ? 'Viewers cannot change anything.' : undefined}
            onClick={() => act(action, chosen, clear)}
          >
            {labels[action]} {count < chosen.length && count > 0 ? count : ''}
          </Button>
        );
      })}
      <CloseButton aria-label="Choose none" onClick={clear} />
    </Paper>
  );
}
