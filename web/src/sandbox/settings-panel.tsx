/** Changes what can be changed later: intervals, the deadline, sleep, sizes, labels. */
import { Checkbox, NumberInput, Select, Textarea } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { readPairs, writePairs } from '../format/pairs.ts';
import { formatAway } from '../format/quantity.ts';
import { useNow } from '../parts/now.ts';
import { Panel } from '../parts/page.tsx';
import classes from '../sandboxes/sandboxes.module.css';
import { client } from '../service/client.ts';
import { changeSandbox, removeSandbox } from '../service/sandbox-list.ts';
import { useSandbox } from './sandbox.ts';
import { SettingsForm } from './settings-form.tsx';

export function SettingsPanel() {
  return (
    <Panel title="Settings">
      <Intervals />
      <EndAt />
      <Asleep />
      <Sizes />
      <Labels />
    </Panel>
  );
}

type Fields = Record<string, number | string>;

/** @returns the fields that differ from what they were. */
function changed<F extends Fields>(before: F, now: F): Partial<Record<keyof F, number>> {
  const entries = Object.entries(now).filter(([key, value]) => value !== '' && value !== before[key]);
  return Object.fromEntries(entries.map(([key, value]) => [key, Number(value)])) as Partial<
    Record<keyof F, number>
  >;
}

function Intervals() {
  const sandbox = useSandbox();
  const { auto_stop_minutes, auto_archive_minutes, auto_delete_minutes } = sandbox;
  const before = { auto_stop_minutes, auto_archive_minutes, auto_delete_minutes };
  const [fields, setFields] = useState<{ [K in keyof typeof before]: number | string }>(before);
  const change = changed(before, fields);
  const queries = useQueryClient();
  const save = async () => {
    const answer = await client.configureSandboxAuto({ sandbox: sandbox.id, ...change });
    if (answer.deleted) removeSandbox(queries, sandbox.id);
    else changeSandbox(queries, sandbox.id, answer);
  };
  const deletesNow = change.auto_delete_minutes === 0 && sandbox.state === 'stopped';
  return (
    <SettingsForm
      what="Intervals"
      disabled={Object.keys(change).length === 0}
      save={save}
      warning={deletesNow ? 'The sandbox is stopped: 0 deletes it at once, with its disk.' : null}
    >
      <NumberInput
        label="Stop after idle minutes"
        description="0: never"
        min={0}
        value={fields.auto_stop_minutes}
        onChange={(auto_stop_minutes) => setFields({ ...fields, auto_stop_minutes })}
      />
      <NumberInput
        label="Archive after stopped minutes"
        description="0: after 30 days"
        min={0}
        max={43_200}
        value={fields.auto_archive_minutes}
        onChange={(auto_archive_minutes) => setFields({ ...fields, auto_archive_minutes })}
      />
      <NumberInput
        label="Delete after stopped minutes"
        description="0: at the stop, −1: never"
        min={-1}
        value={fields.auto_delete_minutes}
        onChange={(auto_delete_minutes) => setFields({ ...fields, auto_delete_minutes })}
      />
    </SettingsForm>
  );
}

/** The deadline, which no activity moves. */
function EndAt() {
  const { id, deadline_at, deadline_action = 'stop' } = useSandbox();
  const [minutes, setMinutes] = useState<number | string>('');
  const [action, setAction] = useState(deadline_action);
  const now = useNow();
  const queries = useQueryClient();
  const save = async () => {
    await client.sandbox(id).setDeadline({ seconds: Number(minutes) * 60, action });
    changeSandbox(queries, id, await client.getSandbox({ sandbox: id }));
    setMinutes('');
  };
  const isAhead = deadline_at !== undefined && Date.parse(deadline_at) > now;
  return (
    <SettingsForm what="Deadline" disabled={minutes === ''} save={save} warning={null}>
      <NumberInput
        label="Deadline in minutes"
        description={
          isAhead ? `Now: ${formatAway(deadline_at, now)}, to ${deadline_action}. 0: none` : 'None now'
        }
        min={0}
        max={43_200}
        allowDecimal={false}
        value={minutes}
        onChange={setMinutes}
      />
      <Select
        label="At the deadline"
        description="Whatever runs then"
        allowDeselect={false}
        data={['stop', 'delete', 'sleep']}
        value={action}
        onChange={(chosen) => setAction(chosen === 'delete' || chosen === 'sleep' ? chosen : 'stop')}
      />
    </SettingsForm>
  );
}

/** Its time until sleep, and the start by a use. */
function Asleep() {
  const { id, sleep_after_seconds = '', wake = false } = useSandbox();
  const [seconds, setSeconds] = useState<number | string>(sleep_after_seconds);
  const [wakes, setWakes] = useState(wake);
  const queries = useQueryClient();
  const save = async () => {
    await client
      .sandbox(id)
      .setSleep({ wake: wakes, ...(seconds === '' ? {} : { afterSeconds: Number(seconds) }) });
    changeSandbox(queries, id, await client.getSandbox({ sandbox: id }));
  };
  return (
    <SettingsForm
      what="Sleep"
      disabled={seconds === sleep_after_seconds && wakes === wake}
      save={save}
      warning={null}
    >
      <NumberInput
        label="Sleep after idle seconds"
        description="0: never; any use wakes it"
        placeholder="as the operator has it"
        min={0}
        max={2_592_000}
        allowDecimal={false}
        value={seconds}
        onChange={setSeconds}
      />
      <Checkbox
        label="A use starts it when it is stopped"
        checked={wakes}
        onChange={({ currentTarget }) => setWakes(currentTarget.checked)}
      />
    </SettingsForm>
  );
}

function Sizes() {
  const sandbox = useSandbox();
  const { cpu, memory, disk } = sandbox.resources;
  const before = { cpu, memory_gb: memory, disk_gb: disk };
  const [fields, setFields] = useState<{ [K in keyof typeof before]: number | string }>(before);
  const change = changed(before, fields);
  const queries = useQueryClient();
  const isStopped = sandbox.state === 'stopped';
  return (
    <SettingsForm
      what="Sizes"
      disabled={Object.keys(change).length === 0}
      warning={null}
      save={async () =>
        changeSandbox(queries, sandbox.id, await client.resizeSandbox({ sandbox: sandbox.id, ...change }))
      }
    >
      <NumberInput
        label="vCPUs"
        min={1}
        max={16}
        value={fields.cpu}
        onChange={(value) => setFields({ ...fields, cpu: value })}
      />
      <NumberInput
        label="Memory in GB"
        min={1}
        max={64}
        value={fields.memory_gb}
        onChange={(value) => setFields({ ...fields, memory_gb: value })}
      />
      <NumberInput
        label="Disk in GB"
        description={isStopped ? 'It can only grow.' : 'Stop the sandbox to change it.'}
        disabled={!isStopped}
        min={disk}
        max={200}
        value={fields.disk_gb}
        onChange={(value) => setFields({ ...fields, disk_gb: value })}
      />
    </SettingsForm>
  );
}

function Labels() {
  const sandbox = useSandbox();
  const before = writePairs(sandbox.labels);
  const [text, setText] = useState(before);
  const { pairs, fault } = readPairs(text);
  const queries = useQueryClient();
  return (
    <SettingsForm
      what="Labels"
      disabled={fault !== null || text === before}
      warning={null}
      save={async () =>
        changeSandbox(
          queries,
          sandbox.id,
          await client.setSandboxLabels({ sandbox: sandbox.id, labels: pairs }),
        )
      }
    >
      <Textarea
        className={classes['formWide'] ?? ''}
        label="Labels"
        description="One key=value a line"
        rows={3}
        spellCheck={false}
        value={text}
        error={fault}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
    </SettingsForm>
  );
}
