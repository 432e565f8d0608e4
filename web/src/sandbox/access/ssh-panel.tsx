/** Makes SSH access and shows its command once. */
import { Button, NumberInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Away } from '../../parts/away.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Facts, Panel } from '../../parts/page.tsx';
import { ProblemPanel } from '../../parts/problem.tsx';
import { client } from '../../service/client.ts';
import { useSandbox } from '../sandbox.ts';

export function SshPanel() {
  const { id } = useSandbox();
  const [minutes, setMinutes] = useState<number | string>(60);
  const make = useMutation({
    mutationFn: () => client.createSshAccess({ sandbox: id, expires_in_minutes: Number(minutes) }),
  });
  return (
    <Panel title="SSH">
      <div className="row-end">
        <NumberInput
          label="Valid for minutes"
          description="0: until it is revoked"
          min={0}
          value={minutes}
          onChange={setMinutes}
        />
        <Button loading={make.isPending} disabled={minutes === ''} onClick={() => make.mutate()}>
          Make access
        </Button>
      </div>
      {make.error && <ProblemPanel title="No access was made" error={make.error} />}
      {make.data && (
        <div className="stack" role="status">
          <CodeBlock label="SSH command" text={make.data.command} />
          <div className="dimmed small">
            The command holds the token, which gives root in this sandbox to everybody who has it. It is shown
            only once. scp, sftp, rsync and editors work too.
          </div>
          <Facts
            facts={[
              ['Host key', <code key="k">{make.data.host_key}</code>],
              [
                'Expires',
                make.data.expires_at === null ? 'never' : <Away key="e" time={make.data.expires_at} />,
              ],
            ]}
          />
        </div>
      )}
    </Panel>
  );
}
