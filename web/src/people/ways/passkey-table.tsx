/** The passkeys of the signed-in user. */
import { Button } from '@mantine/core';
import { Away } from '../../parts/away.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import type { Passkey } from '../../service/ways.ts';

interface PasskeyTableProps {
  passkeys: Passkey[];
  rename(passkey: Passkey): void;
  remove(passkey: Passkey): void;
}

export function PasskeyTable({ passkeys, rename, remove }: PasskeyTableProps) {
  return (
    <DataTable label="Passkeys" head={['Passkey', 'Works at', 'Added', 'Last used', 'Actions']}>
      {passkeys.map((passkey) => (
        <tr key={passkey.passkey_id}>
          <td className="break">{passkey.name}</td>
          <td className="break">{passkey.works_at}</td>
          <td>
            <Away time={passkey.created_at} />
          </td>
          <td>
            <Away time={passkey.last_used_at} />
          </td>
          <td>
            <Button variant="subtle" onClick={() => rename(passkey)} aria-label={`Rename ${passkey.name}`}>
              Rename
            </Button>
            <Button
              variant="subtle"
              color="red"
              c="var(--mantine-color-error)"
              onClick={() => remove(passkey)}
              aria-label={`Remove ${passkey.name}`}
            >
              Remove
            </Button>
          </td>
        </tr>
      ))}
    </DataTable>
  );
}
