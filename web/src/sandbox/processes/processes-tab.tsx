/** The processes of a sandbox: commands that outlive their caller, and the output of each. */
import { Button, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { counted, formatBytes } from '../../format/quantity.ts';
import { Away } from '../../parts/away.tsx';
import { RefreshButton } from '../../parts/buttons.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Panel } from '../../parts/page.tsx';
import { ProblemPanel } from '../../parts/problem.tsx';
import { client } from '../../service/client.ts';
import { useActing } from '../../shell/team-items.tsx';
import { NeedsStart } from '../needs-start.tsx';
import classes from '../sandbox.module.css';
import { useSandbox } from '../sandbox.ts';
import { UserInput, userOf } from '../user-input.tsx';
import { ProcessPanel, ProcessState } from './process-panel.tsx';
import { processesKey } from './use-output.ts';

export function ProcessesTab() {
  return (
    <NeedsStart what="Processes">
      <Processes />
    </NeedsStart>
  );
}

function Processes() {
  const { id } = useSandbox();
  const { viewer } = useActing();
  const [chosen, choose] = useState<string | null>(null);
  const { data, error, refetch } = useQuery({
    queryKey: processesKey(id),
    queryFn: ({ signal }) => client.processes.list(id, { signal }),
  });
  const shown = data?.find(({ process }) => process === chosen);
  const started = (process: string) => {
    choose(process);
    void refetch();
  };
  return (
    <div className={classes['columns']}>
      <Panel title="Processes" actions={<RefreshButton refresh={refetch} />}>
        {!viewer && <StartForm started={started} />}
        {error && <ProblemPanel title="Not listed" error={error} retry={() => void refetch()} />}
        {!data && !error && <Loading what="processes" />}
        <ul className={classes['plain']}>
          {data?.toReversed().map((info) => (
            <li key={info.process}>
              <div className="row">
                <Button
                  className="grow"
                  variant={info === shown ? 'light' : 'subtle'}
                  color="gray"
                  c="var(--mantine-color-text)"
                  justify="flex-start"
                  title={info.command}
                  onClick={() => choose(info.process)}
                >
                  <code className="ellipsis">{`${info.tag ?? info.process}: ${info.command}`}</code>
                </Button>
                <ProcessState {...info} />
              </div>
              <div className="dimmed small">
                started <Away time={info.started_at} /> · {counted(info.viewers, 'viewer')} ·{' '}
                {formatBytes(info.output_bytes)} of output
              </div>
            </li>
          ))}
          {data?.length === 0 && <li className="dimmed">No process has been started.</li>}
        </ul>
      </Panel>
      {shown && <ProcessPanel key={`${shown.process} ${shown.started_at}`} info={shown} />}
    </div>
  );
}

const seconds = { type: 'number', min: 1, max: 86_400, defaultValue: 86_400 };

function StartForm({ started }: { started(process: string): void }) {
  const { id } = useSandbox();
  const start = useMutation({
    mutationFn(form: HTMLFormElement) {
      const written = (name: string) => String(new FormData(form).get(name));
      const names = { tag: written('tag') || undefined, ...userOf(written('user')) };
      const timeoutSeconds = Number(written('seconds')) || undefined;
      return client.processes.start(id, written('command'), { ...names, timeoutSeconds });
    },
    onSuccess(process, form) {
      form.reset();
      started(process.id);
    },
  });
  const asTyped = { spellCheck: false, autoComplete: 'off' };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        start.mutate(event.currentTarget);
      }}
    >
      <TextInput label="Command" name="command" required withAsterisk={false} {...asTyped} />
      <div className="row-end">
        <TextInput label="Tag" name="tag" placeholder="Optional" {...asTyped} />
        <UserInput name="user" />
        <TextInput label="Timeout in seconds" name="seconds" {...seconds} />
        <Button type="submit" loading={start.isPending}>
          Start
        </Button>
      </div>
      {start.error && <ProblemPanel title="Not started" error={start.error} />}
    </form>
  );
}
