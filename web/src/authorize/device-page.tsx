/** Approves a machine that shows a code after `sandhaven login`: the machine gets a key of the user who approves. */
import { Button, Select, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Facts, Page, Panel } from '../parts/page.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { administration } from '../service/administration.ts';
import type { DeviceSignIn } from '../service/records.ts';
import { useSignedIn } from '../shell/signed-in.ts';
import { codeIn } from './device-code.ts';

const ALL = 'all';
const READS = ['sandboxes:read', 'documents:read'];
const extents = [
  { value: ALL, label: 'Everything that I may do' },
  { value: 'read', label: 'Reading alone: sandboxes and documents' },
];

export function DevicePage() {
  const [code, setCode] = useState(() => codeIn(window.location.hash));
  const find = useMutation({ mutationFn: () => administration.getDeviceSignIn(code.trim()) });
  const [done, setDone] = useState<string | null>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    find.mutate();
  };
  if (done !== null) {
    return (
      <Page title="Sign a machine in">
        <Panel title="Done">
          <div role="status">{done}</div>
        </Panel>
      </Page>
    );
  }
  return (
    <Page title="Sign a machine in" about="A machine on which you ran sandhaven login shows a code.">
      <Panel title="1. The code">
        <form className="row-end" onSubmit={submit}>
          <TextInput
            label="Code"
            description="Eight letters, as the machine shows them"
            placeholder="BCDF-GHJK"
            autoComplete="off"
            data-autofocus
            required
            withAsterisk={false}
            value={code}
            onChange={({ currentTarget }) => {
              setCode(currentTarget.value);
              find.reset();
            }}
          />
          <Button type="submit" variant={find.data ? 'default' : 'filled'} loading={find.isPending}>
            Look
          </Button>
        </form>
        {find.error && <ProblemPanel title="No machine is waiting" error={find.error} />}
      </Panel>
      {find.data && <Decision machine={find.data} done={setDone} />}
    </Page>
  );
}

function Decision({ machine, done }: { machine: DeviceSignIn; done(words: string): void }) {
  const { user, scopes } = useSignedIn();
  const [extent, setExtent] = useState(ALL);
  const approve = useMutation({
    mutationFn: () => {
      const wanted = extent === ALL ? scopes : READS;
      return administration.approveDeviceSignIn(machine.user_code, wanted);
    },
    onSuccess: () =>
      done('The machine is signed in. Its key is in the list of your keys, and ends in 90 days.'),
  });
  const deny = useMutation({
    mutationFn: () => administration.denyDeviceSignIn(machine.user_code),
    onSuccess: () => done('The machine was refused, and gets no key.'),
  });
  return (
    <Panel title="2. Your answer">
      <Facts
        facts={[
          ['Machine', machine.machine],
          ['Asked from', machine.address],
          ['Asked at', new Date(machine.created_at).toLocaleTimeString()],
          ['Acts as', user.name],
        ]}
      />
      <p>
        Approve it only if you ran <code>sandhaven login</code> yourself a moment ago. Names are what the
        machine says; nobody who sends you a code needs it to help you.
      </p>
      <Select
        label="Its key may be used for"
        allowDeselect={false}
        data={extents}
        value={extent}
        onChange={(value) => setExtent(value ?? ALL)}
      />
      {(approve.error ?? deny.error) && (
        <ProblemPanel title="The answer failed" error={approve.error ?? deny.error} />
      )}
      <div className="row">
        <Button loading={approve.isPending} onClick={() => approve.mutate()}>
          Approve
        </Button>
        <Button variant="default" loading={deny.isPending} onClick={() => deny.mutate()}>
          Refuse
        </Button>
      </div>
    </Panel>
  );
}
