/** Filters of the list; they stand in the address, so a link keeps them. */
import { SegmentedControl, Select, TextInput } from '@mantine/core';
import { Icon } from '../parts/icon.tsx';
import { type Filter, type Order, type Row, type State, states } from './filter.ts';
import classes from './sandboxes.module.css';

const orderNames: Record<Order, string> = {
  newest: 'Newest first',
  name: 'By name',
  state: 'By state',
  stop: 'Next to stop',
};

interface FilterBarProps {
  filter: Filter;
  rows: readonly Row[];
  change(filter: Filter): void;
}

export function FilterBar({ filter, rows, change }: FilterBarProps) {
  const set = (part: { [K in keyof Filter]: Filter[K] | undefined }) => {
    const next = Object.entries({ ...filter, ...part }).filter(
      ([, value]) => value !== undefined && value !== '',
    );
    change(Object.fromEntries(next));
  };
  const count = (state: State) => rows.filter((row) => row.state === state).length;
  return (
    <search className={classes['filters']}>
      <TextInput
        aria-label="Name or ID"
        placeholder="Name or ID"
        leftSection={<Icon name="search" size={14} />}
        value={filter.name ?? ''}
        onChange={({ currentTarget }) => set({ name: currentTarget.value })}
      />
      <TextInput
        aria-label="Labels"
        placeholder="Labels: team=ml draft"
        value={filter.label ?? ''}
        onChange={({ currentTarget }) => set({ label: currentTarget.value })}
      />
      <SegmentedControl
        aria-label="State"
        className={classes['states'] ?? ''}
        value={filter.state ?? 'all'}
        onChange={(state) => set({ state: state === 'all' ? undefined : (state as State) })}
        data={[
          { value: 'all', label: 'All' },
          ...states.map((state) => ({ value: state, label: `${state} ${count(state)}` })),
        ]}
      />
      <Select
        aria-label="State"
        className={classes['stateSelect'] ?? ''}
        value={filter.state ?? 'all'}
        allowDeselect={false}
        onChange={(state) => set({ state: state === 'all' ? undefined : (state as State) })}
        data={[
          { value: 'all', label: 'All states' },
          ...states.map((state) => ({ value: state, label: `${state} ${count(state)}` })),
        ]}
      />
      <Select
        aria-label="Order"
        value={filter.sort ?? 'newest'}
        allowDeselect={false}
        onChange={(sort) => set({ sort: sort === 'newest' ? undefined : (sort as Order) })}
        data={Object.entries(orderNames).map(([value, label]) => ({ value, label }))}
      />
    </search>
  );
}
