/** The table of sandboxes. Only the rows in view are in the document, so thousands scroll as a few do. */
import { Checkbox, VisuallyHidden } from '@mantine/core';
import type { Sandbox } from '@sandhaven/sdk';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useMemo, useRef } from 'react';
import { Icon } from '../parts/icon.tsx';
import { useSignedIn } from '../shell/signed-in.ts';
import type { Filter, Order } from './filter.ts';
import { useRowMenu } from './row-menu.tsx';
import { SandboxRow } from './sandbox-row.tsx';
import classes from './sandboxes.module.css';
import type { SandboxActions } from './use-actions.tsx';

const ROW_PX = 40;
const OVERSCAN = 8;

interface SandboxTableProps {
  rows: Sandbox[];
  selected: ReadonlySet<string>;
  select(ids: ReadonlySet<string>): void;
  act: SandboxActions['act'];
  filter: Filter;
  change(filter: Filter): void;
}

export function SandboxTable({ rows, selected, select, act, filter, change }: SandboxTableProps) {
  const box = useRef<HTMLDivElement>(null);
  const { user } = useSignedIn();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    getItemKey: (index) => rows[index]?.id ?? index,
  });
  const chosen = useMemo(() => rows.filter(({ id }) => selected.has(id)).length, [rows, selected]);
  const now = useRef({ selected, select });
  now.current = { selected, select };
  // The same function for good, so that rows that stay are not rendered again.
  const toggle = useCallback((id: string) => {
    const next = new Set(now.current.selected);
    if (!next.delete(id)) next.add(id);
    now.current.select(next);
  }, []);
  const { open, menu } = useRowMenu(act);
  return (
    <>
      <div
        ref={box}
        className={classes['box']}
        role="table"
        aria-label="Sandboxes"
        aria-rowcount={rows.length + 1}
      >
        <TableHead
          chosen={chosen}
          shown={rows.length}
          chooseAll={(all) => select(all ? new Set(rows.map(({ id }) => id)) : new Set())}
          filter={filter}
          change={change}
        />
        <div role="rowgroup" className={classes['body']} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start, key }) => {
            const row = rows[index];
            return row ? (
              <SandboxRow
                key={key}
                row={row}
                index={index + 2}
                top={start}
                owner={user.name}
                chosen={selected.has(row.id)}
                toggle={toggle}
                openMenu={open}
              />
            ) : null;
          })}
        </div>
      </div>
      {menu}
    </>
  );
}

interface TableHeadProps extends Pick<SandboxTableProps, 'filter' | 'change'> {
  chosen: number;
  shown: number;
  chooseAll(all: boolean): void;
}

function TableHead({ chosen, shown, chooseAll, filter, change }: TableHeadProps) {
  const isAll = chosen > 0 && chosen === shown;
  return (
    <div role="rowgroup" className={classes['head']}>
      <div role="row" aria-rowindex={1} className={classes['line']}>
        <div role="columnheader">
          <Checkbox
            aria-label="Choose all that are shown"
            checked={isAll}
            indeterminate={chosen > 0 && !isAll}
            onChange={() => chooseAll(!isAll)}
          />
        </div>
        <Heading sort="name" filter={filter} change={change}>
          Name
        </Heading>
        <Heading sort="state" filter={filter} change={change}>
          State
        </Heading>
        <div role="columnheader" className={classes['wide']}>
          Owner
        </div>
        <div role="columnheader" className={classes['middle']}>
          CPU
        </div>
        <div role="columnheader" className={classes['middle']}>
          Memory
        </div>
        <div role="columnheader" className={classes['middle']}>
          Disk
        </div>
        <Heading sort="stop" filter={filter} change={change} className={classes['middle'] ?? ''}>
          Stops
        </Heading>
        <Heading sort="newest" filter={filter} change={change} className={classes['wide'] ?? ''}>
          Created
        </Heading>
        <div role="columnheader">
          <VisuallyHidden>Actions</VisuallyHidden>
        </div>
      </div>
    </div>
  );
}

interface HeadingProps {
  sort: Order;
  filter: Filter;
  change(filter: Filter): void;
  className?: string;
  children: string;
}

function Heading({ sort, filter, change, className, children }: HeadingProps) {
  const current = (filter.sort ?? 'newest') === sort;
  const { sort: _, ...others } = filter;
  return (
    <div
      role="columnheader"
      className={className}
      aria-sort={current ? (sort === 'newest' ? 'descending' : 'ascending') : 'none'}
    >
      <button
        type="button"
        className={classes['sort']}
        onClick={() => change(sort === 'newest' ? others : { ...others, sort })}
      >
        {children}
        {current && <Icon name={sort === 'newest' ? 'down' : 'up'} size={12} />}
      </button>
    </div>
  );
}
