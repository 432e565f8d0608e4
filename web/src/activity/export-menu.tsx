/** Exports what the filters select. */
import { Button, Menu } from '@mantine/core';
import { useState } from 'react';
import { Confirm } from '../parts/confirm.tsx';
import { Icon } from '../parts/icon.tsx';
import { exportRows } from './export-rows.ts';
import type { ActivityFilter } from './filter.ts';

export function ExportMenu({ filter }: { filter: ActivityFilter }) {
  const [format, setFormat] = useState<'csv' | 'jsonl' | null>(null);
  const question = format && {
    title: 'Export the log?',
    body: 'All rows that match the filters are saved to a file on this device. They hold addresses and IDs, and no contents.',
    action: 'Export',
    danger: false,
    run: () => exportRows(format, filter),
  };
  return (
    <>
      <Menu>
        <Menu.Target>
          <Button variant="default" leftSection={<Icon name="download" size={14} />}>
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item data-autofocus onClick={() => setFormat('csv')}>
            CSV, for spreadsheets
          </Menu.Item>
          <Menu.Item onClick={() => setFormat('jsonl')}>JSON lines, with the hashes</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Confirm question={question} close={() => setFormat(null)} />
    </>
  );
}
