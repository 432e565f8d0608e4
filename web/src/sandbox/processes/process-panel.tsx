/** One process: its output as it grows, input for it, signals, and its end. */
import { Button, Menu } from '@mantine/core';
import type { ProcessEnd, ProcessInfo } from '@sandhaven/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { formatBytes } from '../../format/quantity.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { CopyIcon } from '../../parts/copy.tsx';
import { notifyDone, notifyFailed } from '../../parts/notify.tsx';
import { Panel } from '../../parts/page.tsx';
import { ProblemPanel } from '../../parts/problem.tsx';
import { State } from '../../parts/state.tsx';
import { client } from '../../service/client.ts';
import { useActing } from '../../shell/team-items.tsx';
import { InputForm } from '../input-form.tsx';
import { LiveOutput, type Stream, StreamChoice } from '../output.tsx';
import { useSandbox } from '../sandbox.ts';
import { MOST_CHARS } from './output-log.ts';
import { processesKey, useOutput } from './use-output.ts';

export function ProcessPanel({ info }: { info: ProcessInfo }) {
  const { id } = useSandbox();
  const { viewer } = useActing();
  const { text, forgottenBytes, end, error } = useOutput(id, info.process);
  const [stream, choose] = useState<Stream>('output');
  const one = client.processes.get(id, info.process);
  const runs = (end ?? info).exit_code === null;
  const none = end ? 'It printed nothing.' : 'Nothing is printed yet.';
  return (
    <Panel
      title={info.tag ?? info.process}
      actions={
        <>
          <ProcessState {...(end ?? info)} />
          <CopyIcon text={text[stream]} label="Copy the output" />
          {!viewer && <Actions info={info} runs={runs} />}
        </>
      }
    >
      <code className="break">{info.command}</code>
      <div className="row">
        <StreamChoice stream={stream} choose={choose} />
        <span className="dimmed small">
          {forgottenBytes > 0 && `${formatBytes(forgottenBytes)} of earlier output are forgotten. `}
          {text[stream].length === MOST_CHARS && 'A part of this long log is left out.'}
        </span>
      </div>
      {error !== undefined && <ProblemPanel title="The output cannot be followed" error={error} />}
      <LiveOutput label="Output of the process" text={text[stream]} none={none} />
      {runs && !viewer && (
        <InputForm what="process" send={(line) => one.write(`${line}\n`)} close={() => one.closeInput()} />
      )}
    </Panel>
  );
}

export function ProcessState({ exit_code, signal, timed_out }: ProcessEnd | ProcessInfo) {
  if (exit_code === null) return <State state="running" fallback="started" />;
  const how = signal ?? (exit_code === 0 ? 'ok' : `exit ${exit_code}`);
  return <State state={timed_out ? 'timed out' : how} />;
}

function Actions({ info, runs }: { info: ProcessInfo; runs: boolean }) {
  const { id } = useSandbox();
  const queries = useQueryClient();
  const [asking, setAsking] = useState(false);
  const process = client.processes.get(id, info.process);
  const send = (name: string) =>
    process
      .signal(name)
      .then(() => notifyDone(`${name} was sent`))
      .catch((error: unknown) => notifyFailed(`${name} was not sent`, error));
  const verb = runs ? 'End' : 'Forget';
  const question = {
    title: `${verb} ${info.tag ?? info.process}?`,
    body: `${runs ? 'All that it has started is killed with it. ' : ''}Its output is forgotten.`,
    action: `${verb} the process`,
    async run() {
      await process.end();
      void queries.invalidateQueries({ queryKey: processesKey(id) });
    },
  };
  return (
    <>
      {runs && (
        <Menu>
          <Menu.Target>
            <Button variant="default">Signal</Button>
          </Menu.Target>
          <Menu.Dropdown>
            {['TERM', 'INT', 'HUP', 'KILL'].map((name, at) => (
              <Menu.Item key={name} data-autofocus={!at || undefined} onClick={() => send(name)}>
                {name}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      <Button variant="default" onClick={() => setAsking(true)}>
        {verb}
      </Button>
      <Confirm question={asking ? question : null} close={() => setAsking(false)} />
    </>
  );
}
