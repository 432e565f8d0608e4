/** One sandbox in the table, of elements that are made fast: many pass by while the table is scrolled. */
import type { Sandbox } from '@sandhaven/sdk';
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { formatAway, formatMinutes } from '../format/quantity.ts';
import { Away } from '../parts/away.tsx';
import { Icon } from '../parts/icon.tsx';
import { useNow } from '../parts/now.ts';
import { State } from '../parts/state.tsx';
import { stopsAt } from './filter.ts';
import classes from './sandboxes.module.css';
import { UsageCells } from './usage-cells.tsx';

interface SandboxRowProps {
  row: Sandbox;
  index: number;
  top: number;
  owner: string;
  chosen: boolean;
  toggle(id: string): void;
  openMenu(row: Sandbox, button: HTMLElement): void;
}

export const SandboxRow = memo(function SandboxRow({
  row,
  index,
  top,
  owner,
  chosen,
  toggle,
  openMenu,
}: SandboxRowProps) {
  return (
    <div
      role="row"
      aria-rowindex={index}
      className={classes['line']}
      data-chosen={chosen || undefined}
      style={{ transform: `translateY(${top}px)` }}
    >
      <div role="cell">
        <input
          type="checkbox"
          className={classes['check']}
          aria-label={`Choose ${row.name}`}
          checked={chosen}
          onChange={() => toggle(row.id)}
        />
      </div>
      <div role="cell" className={classes['name']}>
        <Link to="/sandboxes/$id" params={{ id: row.id }} className="ellipsis" title={row.name}>
          {row.name}
        </Link>
        <Labels labels={row.labels} />
      </div>
      <div role="cell" title={row.state_reason}>
        <State state={row.asleep_since ? 'asleep' : row.state} operation={row.operation} />
      </div>
      <div role="cell" className={`${classes['wide']} ellipsis`}>
        {owner}
      </div>
      <UsageCells row={row} />
      <div role="cell" className={classes['middle']}>
        {row.resources.disk} GB
      </div>
      <div role="cell" className={classes['middle']}>
        <Stops row={row} />
      </div>
      <div role="cell" className={classes['wide']}>
        <Away time={row.created_at} />
      </div>
      <div role="cell">
        <button
          type="button"
          className={classes['more']}
          aria-label={`Actions on ${row.name}`}
          aria-haspopup="menu"
          onClick={({ currentTarget }) => openMenu(row, currentTarget)}
        >
          <Icon name="more" />
        </button>
      </div>
    </div>
  );
});

/** @returns when it stops by itself. */
export function Stops({ row }: { row: Sandbox }) {
  const now = useNow();
  const at = stopsAt(row);
  if (row.state !== 'started') return <span className="dimmed">–</span>;
  if (at === null) return <span className="dimmed">never</span>;
  const text = at <= now ? 'soon' : formatAway(at, now) === 'now' ? 'within a minute' : formatAway(at, now);
  const isDeadline = row.deadline_at !== undefined && at === Date.parse(row.deadline_at);
  const how = isDeadline ? 'Its deadline' : `After ${formatMinutes(row.auto_stop_minutes)} without activity`;
  return <span title={how}>{text}</span>;
}

function Labels({ labels }: { labels: Record<string, string> }) {
  const entries = Object.entries(labels);
  if (entries.length === 0) return null;
  return (
    <span className={classes['labels']} title={entries.map(([key, value]) => `${key}=${value}`).join('\n')}>
      {entries.slice(0, 3).map(([key, value]) => (
        <span key={key} className={classes['label']}>
          {value === '' ? key : `${key}=${value}`}
        </span>
      ))}
      {entries.length > 3 && <span className={classes['label']}>+{entries.length - 3}</span>}
    </span>
  );
}
