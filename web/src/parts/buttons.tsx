/** Buttons that many screens have. */
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';

export function RefreshButton({
  busy = false,
  refresh,
  label = 'Refresh',
}: {
  busy?: boolean;
  refresh(): unknown;
  label?: string;
}) {
  return (
    <Button
      variant="default"
      loading={busy}
      leftSection={<Icon name="refresh" size={14} />}
      onClick={() => void refresh()}
    >
      {label}
    </Button>
  );
}

interface DialogEndProps {
  action: string;
  busy: boolean;
  disabled?: boolean;
  close(): void;
  /** Beside the buttons. */
  children?: ReactNode;
}

/** The end of a form in a dialog. */
export function DialogEnd({ action, busy, disabled = false, close, children }: DialogEndProps) {
  return (
    <div className="row" style={{ justifyContent: 'flex-end' }}>
      {children}
      <Button variant="default" onClick={close}>
        Cancel
      </Button>
      <Button type="submit" loading={busy} disabled={disabled}>
        {action}
      </Button>
    </div>
  );
}
