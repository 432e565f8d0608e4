/** Own sandboxes, or everybody's: the address keeps the choice of an admin. */
import { SegmentedControl } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';

const route = getRouteApi('/sandboxes');

export function WhoseSwitch({ whose }: { whose: 'own' | 'everybody' }) {
  const navigate = route.useNavigate();
  return (
    <SegmentedControl
      aria-label="Whose sandboxes"
      value={whose}
      onChange={(chosen) => void navigate({ search: chosen === 'everybody' ? { whose: 'everybody' } : {} })}
      data={[
        { value: 'own', label: 'Own' },
        { value: 'everybody', label: "Everybody's" },
      ]}
    />
  );
}
