/** The menu of a row. All rows share it, so that a row has only a button of its own. */
import { Menu } from '@mantine/core';
import type { Sandbox } from '@sandhaven/sdk';
import { useCallback, useState } from 'react';
import { Icon, type IconName } from '../parts/icon.tsx';
import { useActing } from '../shell/team-items.tsx';
import { type ActionName, actionNames, isAllowed } from './actions.ts';
import type { SandboxActions } from './use-actions.tsx';

const looks: Record<ActionName, { icon: IconName; label: string }> = {
  start: { icon: 'play', label: 'Start' },
  resume: { icon: 'play', label: 'Resume' },
  pause: { icon: 'moon', label: 'Pause' },
  stop: { icon: 'stop', label: 'Stop' },
  archive: { icon: 'archive', label: 'Archive' },
  delete: { icon: 'trash', label: 'Delete' },
};

interface Opened {
  row: Sandbox;
  button: HTMLElement;
  place: { top: number; left: number; width: number; height: number };
}

export function useRowMenu(act: SandboxActions['act']) {
  const { viewer } = useActing();
  const [opened, setOpened] = useState<Opened | null>(null);
  const open = useCallback((row: Sandbox, button: HTMLElement) => {
    const { top, left, width, height } = button.getBoundingClientRect();
    setOpened({ row, button, place: { top, left, width, height } });
  }, []);
  const close = () => {
    opened?.button.focus();
    setOpened(null);
  };
  const first = opened && actionNames.find((action) => isAllowed(action, opened.row));
  const menu = opened && (
    <Menu opened onClose={close} returnFocus={false}>
      <Menu.Target>
        <span
          aria-label={`Actions on ${opened.row.name}`}
          role="img"
          style={{ ...opened.place, position: 'fixed', pointerEvents: 'none' }}
        />
      </Menu.Target>
      <Menu.Dropdown>
        {viewer && <Menu.Label>Viewers cannot change anything</Menu.Label>}
        {actionNames.map((action) => (
          <Menu.Item
            key={action}
            leftSection={<Icon name={looks[action].icon} size={14} />}
            disabled={viewer || !isAllowed(action, opened.row)}
            data-autofocus={action === first || undefined}
            {...(action === 'delete' ? { c: 'var(--mantine-color-error)' } : {})}
            onClick={() => act(action, [opened.row])}
          >
            {looks[action].label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
  return { open, menu };
}
