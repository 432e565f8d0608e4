/** The open terminals as tabs: arrows move between them, as in every list of tabs. */
import { type KeyboardEvent, useRef } from 'react';
import type { Terminal } from '../../service/records.ts';
import classes from './terminal.module.css';

export const tabId = (terminal: string) => `terminal-tab-${terminal}`;
export const PANEL_ID = 'terminal-panel';

interface TabListProps {
  names: string[];
  listed: Terminal[];
  chosen: string;
  choose(name: string): void;
}

export function TabList({ names, listed, chosen, choose }: TabListProps) {
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const to = placeAfter(event.key, names.indexOf(chosen), names.length);
    const name = to === null ? undefined : names[to];
    if (name === undefined) return;
    event.preventDefault();
    choose(name);
    list.current?.querySelector<HTMLElement>(`#${tabId(name)}`)?.focus();
  };
  return (
    <div ref={list} role="tablist" aria-label="Terminals" className={classes['tabs']} onKeyDown={move}>
      {names.map((name) => (
        <button
          key={name}
          id={tabId(name)}
          type="button"
          role="tab"
          aria-selected={name === chosen}
          aria-controls={name === chosen ? PANEL_ID : undefined}
          tabIndex={name === chosen ? 0 : -1}
          className={classes['tab']}
          onClick={() => choose(name)}
        >
          {name}
          <About terminal={listed.find(({ terminal }) => terminal === name)} />
        </button>
      ))}
    </div>
  );
}

function About({ terminal }: { terminal: Terminal | undefined }) {
  if (!terminal) return null;
  const parts = [
    ...(terminal.busy && terminal.program !== '' ? [terminal.program] : []),
    ...(terminal.viewers > 1 ? [`${terminal.viewers} viewers`] : []),
  ];
  return parts.length === 0 ? null : <span className="dimmed small"> {parts.join(', ')}</span>;
}

function placeAfter(key: string, place: number, count: number): number | null {
  if (key === 'ArrowRight') return (place + 1) % count;
  if (key === 'ArrowLeft') return (place - 1 + count) % count;
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : null;
}
