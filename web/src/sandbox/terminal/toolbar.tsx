/** Keys that touch screens lack, and the clipboard. */
import { Button, Checkbox } from '@mantine/core';
import { Icon } from '../../parts/icon.tsx';
import { type ArrowName, LEAVE_KEYS } from './emulator/keys.ts';
import classes from './terminal.module.css';

export interface ToolbarActions {
  press(keys: string): void;
  arrow(name: ArrowName): void;
  holdCtrl(held: boolean): void;
  copy(): void;
  paste(): void;
}

interface ToolbarProps {
  actions: ToolbarActions;
  ctrl: boolean;
  screenReader: boolean;
  setScreenReader(on: boolean): void;
}

const arrows: [name: ArrowName, sign: string, label: string][] = [
  ['left', '←', 'Arrow left'],
  ['up', '↑', 'Arrow up'],
  ['down', '↓', 'Arrow down'],
  ['right', '→', 'Arrow right'],
];

export function Toolbar({ actions, ctrl, screenReader, setScreenReader }: ToolbarProps) {
  return (
    <div className="row">
      <div role="group" aria-label="Keys" className={classes['keys']}>
        <Key onClick={() => actions.press('\x1b')}>Esc</Key>
        <Key onClick={() => actions.press('\t')}>Tab</Key>
        <Key pressed={ctrl} onClick={() => actions.holdCtrl(!ctrl)}>
          Ctrl
        </Key>
        {arrows.map(([name, sign, label]) => (
          <Key key={name} label={label} onClick={() => actions.arrow(name)}>
            {sign}
          </Key>
        ))}
      </div>
      <Button
        variant="default"
        leftSection={<Icon name="copy" size={14} />}
        // The selection stays.
        onMouseDown={(event) => event.preventDefault()}
        onClick={actions.copy}
      >
        Copy
      </Button>
      <Button variant="default" onClick={actions.paste}>
        Paste
      </Button>
      <Checkbox
        label="For screen readers"
        checked={screenReader}
        onChange={({ currentTarget }) => setScreenReader(currentTarget.checked)}
      />
      <span className="dimmed small">
        <kbd>{LEAVE_KEYS}</kbd> leaves the terminal
      </span>
    </div>
  );
}

interface KeyProps {
  /** For a sign that is no word. */
  label?: string;
  pressed?: boolean;
  onClick(): void;
  children: string;
}

function Key({ label, pressed, onClick, children }: KeyProps) {
  return (
    <Button
      variant={pressed ? 'filled' : 'default'}
      aria-label={label}
      aria-pressed={pressed}
      // The keyboard of a touch screen stays open.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onClick}
    >
      {children}
    </Button>
  );
}
