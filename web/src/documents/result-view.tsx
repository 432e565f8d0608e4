/** The answer of a query, with its notes. */
import { SegmentedControl } from '@mantine/core';
import type { FindDocumentsResult } from '@sandhaven/sdk';
import { useMemo, useState } from 'react';
import { counted, formatCount } from '../format/quantity.ts';
import { CodeBlock } from '../parts/copy.tsx';
import { DataTable } from '../parts/data-table.tsx';
import classes from './documents.module.css';
import { gridOf } from './query-text.ts';

export type Answer =
  | { documents: string[]; hasMore: boolean; next?: FindDocumentsResult['next']; notes: string[] }
  | { count: number; notes: string[] };

const SHOWN = 500;

export function ResultView({ answer }: { answer: Answer }) {
  const [form, setForm] = useState('table');
  return (
    <div className="stack">
      <div className="row">
        <strong role="status">
          {'count' in answer
            ? counted(answer.count, 'document')
            : `${counted(answer.documents.length, 'document')}${answer.hasMore ? ', and there are more' : ''}`}
        </strong>
        <span className="grow" />
        {'documents' in answer && answer.documents.length > 0 && (
          <SegmentedControl
            aria-label="Form"
            value={form}
            onChange={setForm}
            data={[
              { value: 'table', label: 'Table' },
              { value: 'json', label: 'JSON' },
            ]}
          />
        )}
      </div>
      {answer.notes.map((note) => (
        <div key={note} className="dimmed break">
          {note}
        </div>
      ))}
      {'documents' in answer && answer.documents.length > 0 && (
        <>
          {answer.documents.length > SHOWN && (
            <div className="dimmed small">The first {formatCount(SHOWN)} are shown.</div>
          )}
          {form === 'table' ? (
            <Grid documents={answer.documents.slice(0, SHOWN)} />
          ) : (
            <CodeBlock label="documents" text={answer.documents.slice(0, SHOWN).map(indented).join('\n')} />
          )}
        </>
      )}
    </div>
  );
}

function Grid({ documents }: { documents: string[] }) {
  const { columns, rows } = useMemo(() => gridOf(documents), [documents]);
  return (
    <DataTable label="Documents" head={columns}>
      {rows.map((row, index) => (
        <tr key={index}>
          {row.map((cell, column) => (
            <td key={column} className={classes['cell']} title={cell}>
              {cell}
            </td>
          ))}
        </tr>
      ))}
    </DataTable>
  );
}

function indented(document: string): string {
  return JSON.stringify(JSON.parse(document), null, 2);
}
