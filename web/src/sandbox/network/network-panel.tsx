/** Network of the sandbox, and the form that changes it, also while it runs. */
import { Alert, Checkbox, SegmentedControl, Textarea } from '@mantine/core';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { formatBytes } from '../../format/quantity.ts';
import { Away } from '../../parts/away.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Facts, Panel } from '../../parts/page.tsx';
import classes from '../../sandboxes/sandboxes.module.css';
import { networks } from '../../service/networks.ts';
import type { ShownNetwork } from '../../service/records.ts';
import { useSandbox } from '../sandbox.ts';
import { SettingsForm } from '../settings-form.tsx';
import { isSameNetwork, type NetworkFields, networkFieldsOf, networkOf } from './network-fields.ts';

const modes = [
  { value: 'open', label: 'Open' },
  { value: 'rules', label: 'Rules' },
  { value: 'none', label: 'None' },
] satisfies { value: NetworkFields['mode']; label: string }[];

/** They change with the version of the service alone. */
const profilesQuery = queryOptions({
  queryKey: ['network-profiles'],
  queryFn: networks.profiles,
  staleTime: Number.POSITIVE_INFINITY,
});

const meanings = {
  open: 'The sandbox reaches everything public.',
  rules: 'The sandbox reaches only what a profile or a rule names.',
  none: 'The sandbox reaches nothing, not even DNS.',
} as const;

export function NetworkPanel({ shown }: { shown: ShownNetwork }) {
  return (
    <Panel title="Network">
      {/* Made anew after a change, here or elsewhere. */}
      <NetworkForm key={JSON.stringify(shown.network)} shown={shown} />
      <InForce shown={shown} />
    </Panel>
  );
}

function NetworkForm({ shown }: { shown: ShownNetwork }) {
  const { id } = useSandbox();
  const before = networkFieldsOf(shown.network);
  const [fields, setFields] = useState(before);
  const queries = useQueryClient();
  const save = async () => {
    queries.setQueryData(['sandbox', id, 'network'], await networks.set(id, networkOf(fields)));
  };
  return (
    <SettingsForm what="Network" disabled={isSameNetwork(before, fields)} warning={null} save={save}>
      <div className={`stack ${classes['formWide'] ?? ''}`}>
        <SegmentedControl
          aria-label="What the sandbox reaches"
          data={modes}
          value={fields.mode}
          onChange={(mode) => setFields({ ...fields, mode: mode as NetworkFields['mode'] })}
        />
        <div className="dimmed">{meanings[fields.mode]}</div>
        {fields.mode === 'rules' && <Rules fields={fields} setFields={setFields} />}
      </div>
    </SettingsForm>
  );
}

function Rules({ fields, setFields }: { fields: NetworkFields; setFields(fields: NetworkFields): void }) {
  const { data: profiles } = useQuery(profilesQuery);
  return (
    <>
      <Checkbox.Group
        label="Profiles"
        value={fields.profiles}
        onChange={(chosen) => setFields({ ...fields, profiles: chosen })}
      >
        <div className="stack">
          {profiles?.map(({ name, description, rules }) => (
            <Checkbox
              key={name}
              value={name}
              label={name}
              description={description}
              title={rules.join('\n')}
            />
          ))}
        </div>
      </Checkbox.Group>
      <Textarea
        label="Rules"
        description="One a line: https://api.example.com, https://*.example.com:8443, tcp://203.0.113.7:5432"
        autosize
        minRows={3}
        maxRows={12}
        spellCheck={false}
        value={fields.rules}
        onChange={({ currentTarget }) => setFields({ ...fields, rules: currentTarget.value })}
      />
    </>
  );
}

/** Shows facts that the setting itself does not show. */
function InForce({ shown: { network, in_force, learning_until, traffic } }: { shown: ShownNetwork }) {
  const { data: profiles = [] } = useQuery(profilesQuery);
  const named = profiles.filter(({ name }) => network.profiles.includes(name));
  const meant = [...network.allow, ...named.flatMap(({ rules }) => rules)];
  const isNarrower = in_force.mode !== network.mode || meant.some((rule) => !in_force.rules.includes(rule));
  return (
    <>
      {learning_until !== null && (
        <Alert color="gray" icon={<Icon name="warning" />} title="The sandbox is learning rules">
          The sandbox reaches all that the ceilings allow. This ends <Away time={learning_until} />.
        </Alert>
      )}
      {traffic?.refused_until && (
        <Alert color="red" icon={<Icon name="warning" />} title="Today's traffic is used up">
          The sandbox reaches nothing. This ends <Away time={traffic.refused_until} />.
        </Alert>
      )}
      {isNarrower && learning_until === null && (
        <Alert color="gray" icon={<Icon name="warning" />} title="A ceiling allows less">
          {in_force.mode === 'rules'
            ? `In force: ${in_force.rules.join(', ') || 'nothing'}.`
            : `In force: ${in_force.mode}.`}
        </Alert>
      )}
      {traffic && (
        <Facts
          facts={[
            ['Sent today', formatBytes(traffic.sent_bytes_today)],
            ['Received today', formatBytes(traffic.received_bytes_today)],
            ...(traffic.limits.gb_per_day === null
              ? []
              : [['Limit a day', `${traffic.limits.gb_per_day} GB`] as [string, string]]),
          ]}
        />
      )}
    </>
  );
}
