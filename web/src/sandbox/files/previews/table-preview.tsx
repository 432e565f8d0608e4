/** Shows CSV as a table. */
import { useMemo } from 'react';
import { parseCsv } from '../../../format/csv.ts';
import { formatCount } from '../../../format/quantity.ts';
import { DataTable } from '../../../parts/data-table.tsx';
import { Empty } from '../../../parts/empty.tsx';

const MOST_ROWS = 1_000;
const MOST_COLUMNS = 100;

export function TablePreview({ text, cut }: { text: string; cut: boolean }) {
  const csv = useMemo(() => parseCsv(text, MOST_ROWS + 1), [text]);
  const [head = [], ...rows] = csv.rows;
  if (csv.rows.length === 0) return <Empty icon="file" title="This table is empty" />;
  return (
    <div className="stack">
      {(csv.cut || cut) && (
        <div className="dimmed small">The first {formatCount(rows.length)} rows are shown.</div>
      )}
      <DataTable label="Rows" head={head.slice(0, MOST_COLUMNS)}>
        {rows.map((row, index) => (
          <tr key={index}>
            {row.slice(0, MOST_COLUMNS).map((cell, column) => (
              <td key={column}>{cell}</td>
            ))}
          </tr>
        ))}
      </DataTable>
    </div>
  );
}
