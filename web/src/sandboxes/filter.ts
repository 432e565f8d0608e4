/** Filter and order of the list of sandboxes; the address keeps them. */

export const states = ['started', 'stopped', 'archived', 'error'] as const;
export const orders = ['newest', 'name', 'state', 'stop'] as const;
export type State = (typeof states)[number];
export type Order = (typeof orders)[number];

export interface Filter {
  /** Part of the name or of the ID. */
  name?: string;
  state?: State;
  /** Labels, such as `team=ml draft`: a key with its value, or a key alone. */
  label?: string;
  sort?: Order;
  /** Admins alone see everybody's. */
  whose?: 'everybody';
}

export interface Row {
  id: string;
  name: string;
  state: State;
  labels: Record<string, string>;
  created_at: string;
  auto_stop_minutes: number;
  deadline_at?: string;
  last_activity_at: string;
}

export function readFilter(search: Record<string, unknown>): Filter {
  const filter: Filter = {};
  const { name, state, label, sort, whose } = search;
  if (whose === 'everybody') filter.whose = whose;
  if (isText(name)) filter.name = String(name);
  if (isText(label)) filter.label = String(label);
  if (states.includes(state as State)) filter.state = state as State;
  if (orders.includes(sort as Order)) filter.sort = sort as Order;
  return filter;
}

export function filtered<R extends Row>(rows: readonly R[], filter: Filter): R[] {
  const name = filter.name?.trim().toLowerCase() ?? '';
  const labels = labelsOf(filter.label ?? '');
  const found = rows.filter(
    (row) =>
      (filter.state === undefined || row.state === filter.state) &&
      (name === '' || row.name.toLowerCase().includes(name) || row.id.startsWith(name)) &&
      labels.every(
        ({ key, value }) => Object.hasOwn(row.labels, key) && (value === null || row.labels[key] === value),
      ),
  );
  return found.toSorted(comparisons[filter.sort ?? 'newest']);
}

/** The time at which a started sandbox stops, of idleness or at its deadline; null where it does not. */
export function stopsAt({
  state,
  auto_stop_minutes,
  deadline_at,
  last_activity_at,
}: Pick<Row, 'state' | 'auto_stop_minutes' | 'deadline_at' | 'last_activity_at'>): number | null {
  const idle = auto_stop_minutes === 0 ? Infinity : Date.parse(last_activity_at) + auto_stop_minutes * 60_000;
  const at = Math.min(idle, deadline_at === undefined ? Infinity : Date.parse(deadline_at));
  return state === 'started' && at < Infinity ? at : null;
}

interface Label {
  key: string;
  /** null: any. */
  value: string | null;
}

function labelsOf(text: string): Label[] {
  return text
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .map((part) => {
      const sign = part.indexOf('=');
      return sign < 1
        ? { key: part, value: null }
        : { key: part.slice(0, sign), value: part.slice(sign + 1) };
    });
}

const byName = (a: Row, b: Row) => a.name.localeCompare(b.name, 'en', { numeric: true });

const comparisons: Record<Order, (a: Row, b: Row) => number> = {
  newest: (a, b) => b.created_at.localeCompare(a.created_at),
  name: byName,
  state: (a, b) => states.indexOf(a.state) - states.indexOf(b.state) || byName(a, b),
  stop: (a, b) =>
    (stopsAt(a) ?? Number.MAX_SAFE_INTEGER) - (stopsAt(b) ?? Number.MAX_SAFE_INTEGER) || byName(a, b),
};

/** Numbers come without quotes from the address. */
function isText(value: unknown): value is string | number {
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}
