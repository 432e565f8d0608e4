/** A table that scrolls sideways within itself where it is too narrow. */
import type { ReactNode } from 'react';
import classes from './parts.module.css';

interface DataTableProps {
  label: string;
  head: ReactNode[];
  children: ReactNode;
}

export function DataTable({ label, head, children }: DataTableProps) {
  return (
    <div className={classes['tableBox']} tabIndex={0} role="region" aria-label={`${label}, table`}>
      <table className={classes['table']}>
        <thead>
          <tr>
            {head.map((cell, column) => (
              <th key={column} scope="col">
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
