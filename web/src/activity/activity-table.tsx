/** Rows of the audit log as a table. */
import { Link } from '@tanstack/react-router';
import { formatMs } from '../format/quantity.ts';
import { Away } from '../parts/away.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { State } from '../parts/state.tsx';
import type { AuditRow, User } from '../service/records.ts';

interface ActivityTableProps {
  rows: AuditRow[];
  users: User[];
  dimmed: boolean;
}

export function ActivityTable({ rows, users, dimmed }: ActivityTableProps) {
  const names = new Map(users.map(({ user_id, name }) => [user_id, name]));
  return (
    <div style={{ opacity: dimmed ? 0.6 : 1 }}>
      <DataTable
        label="Calls"
        head={['When', 'User', 'Action', 'Sandbox', 'Outcome', 'Took', 'By', 'Address', 'Request']}
      >
        {rows.map((row) => (
          <tr key={row.sequence}>
            <td style={{ whiteSpace: 'nowrap' }}>
              <Away time={row.time} />
            </td>
            <td>
              {whoOf(row, names)}
              {row.made_by && (
                <div className="dimmed small">let in by {names.get(row.made_by) ?? row.made_by}</div>
              )}
            </td>
            <td>
              {row.action}
              {row.count !== null && ` (${row.count})`}
            </td>
            <td>
              {row.sandbox_id === null ? (
                '–'
              ) : (
                <Link to="/sandboxes/$id" params={{ id: row.sandbox_id }}>
                  <code>{row.sandbox_id}</code>
                </Link>
              )}
            </td>
            <td>
              <State state={row.outcome} />
            </td>
            <td>{formatMs(row.duration_ms)}</td>
            <td>{row.transport}</td>
            <td>{row.client_address ?? '–'}</td>
            <td>
              <code className="dimmed">{row.request_id ?? '–'}</code>
            </td>
          </tr>
        ))}
      </DataTable>
    </div>
  );
}

/** Visitors of a team's sandbox have no user. */
function whoOf({ user_id, team_id }: AuditRow, names: Map<string, string>) {
  const id = user_id ?? team_id;
  return id === null ? '–' : (names.get(id) ?? <code>{id}</code>);
}
