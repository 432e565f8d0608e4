/** Makes a token of this sandbox and shows it once. */
import { Button, NumberInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Away } from '../../parts/away.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Facts, Panel } from '../../parts/page.tsx';
import { ProblemPanel } from '../../parts/problem.tsx';
import { client } from '../../service/client.ts';
import { useSandbox } from '../sandbox.ts';

const DAYS = 30;

export function TokenPanel() {
  const { id } = useSandbox();
  const [minutes, setMinutes] = useState<number | string>(60);
  const make = useMutation({
    mutationFn: () => client.access.createToken(id, { expiresInMinutes: Number(minutes) }),
  });
  return (
    <Panel title="Token of this sandbox">
      <div className="dimmed">
        Works in place of an API key, for the files, programs and previews of this sandbox alone.
      </div>
      <div className="row-end">
        <NumberInput
          label="Token valid for minutes"
          min={1}
          max={DAYS * 1_440}
          value={minutes}
          onChange={setMinutes}
        />
        <Button loading={make.isPending} disabled={minutes === ''} onClick={() => make.mutate()}>
          Make token
        </Button>
      </div>
      {make.error && <ProblemPanel title="No token was made" error={make.error} />}
      {make.data && (
        <div className="stack" role="status">
          <CodeBlock label="Token" text={make.data.token} />
          <div className="dimmed small">
            Whoever has it works in this sandbox in the name of its owner. It is shown only once.
          </div>
          <Facts
            facts={[
              ['In the audit log', <code key="i">{make.data.token_id}</code>],
              ['Expires', <Away key="e" time={make.data.expires_at} />],
            ]}
          />
        </div>
      )}
    </Panel>
  );
}
