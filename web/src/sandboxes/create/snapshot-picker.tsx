/** Chooses a snapshot by its name, with its image and sizes. */
import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { causeOf } from '../../parts/problem.tsx';
import { snapshotsQuery } from '../../service/queries.ts';

interface SnapshotPickerProps {
  value: string;
  error: string | undefined;
  change(snapshot: string): void;
}

export function SnapshotPicker({ value, error, change }: SnapshotPickerProps) {
  const snapshots = useQuery(snapshotsQuery);
  const rows = snapshots.data ?? [];
  const chosen = rows.find(({ name }) => name === value);
  return (
    <Select
      label="Snapshot"
      placeholder={snapshots.isPending ? 'Loading…' : 'Choose one'}
      searchable
      nothingFoundMessage="No snapshot has this name"
      data={rows.map(({ name, state }) => ({
        value: name,
        label: state === 'active' ? name : `${name} (${state})`,
        disabled: state !== 'active',
      }))}
      value={value === '' ? null : value}
      error={error ?? (snapshots.error ? causeOf(snapshots.error).detail : undefined)}
      description={
        chosen
          ? `${chosen.image}: ${chosen.resources.cpu} vCPUs, ${chosen.resources.memory} GB of memory, ${chosen.resources.disk} GB of disk`
          : 'It brings its own sizes.'
      }
      onChange={(name) => change(name ?? '')}
    />
  );
}
