/** Use, facts and settings of the sandbox. */
import { Alert } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Away } from '../parts/away.tsx';
import { CopyIcon } from '../parts/copy.tsx';
import { Icon } from '../parts/icon.tsx';
import { Facts, Panel } from '../parts/page.tsx';
import classes from './sandbox.module.css';
import { useSandbox } from './sandbox.ts';
import { SettingsPanel } from './settings-panel.tsx';
import { UsagePanel } from './usage-panel.tsx';

export function OverviewTab() {
  const sandbox = useSandbox();
  const { resources } = sandbox;
  return (
    <div className="stack">
      {sandbox.state_reason !== undefined && (
        <Alert
          color={sandbox.state === 'error' ? 'red' : 'gray'}
          icon={<Icon name="warning" />}
          title={`Why it is ${sandbox.state}`}
        >
          <span className="break">{sandbox.state_reason}</span>
        </Alert>
      )}
      <div className={classes['columns']}>
        <div className={classes['column']}>
          <UsagePanel>
            <Facts
              facts={[
                ['vCPUs', resources.cpu],
                ['GPUs', resources.gpu],
                ['Last activity', <Away key="a" time={sandbox.last_activity_at} />],
              ]}
            />
          </UsagePanel>
          {/* Anew for another sandbox, so that no field keeps the value of the one before. */}
          <SettingsPanel key={sandbox.id} />
        </div>
        <div className={classes['column']}>
          <Panel title="Facts">
            <Facts
              facts={[
                ['ID', <IdFact key="id" id={sandbox.id} />],
                ['Language of RunCode', sandbox.language],
                ['User of calls', sandbox.user ?? 'root'],
                [
                  'Made from',
                  sandbox.snapshot === null ? `image ${sandbox.image}` : `snapshot ${sandbox.snapshot}`,
                ],
                [
                  'Network',
                  <Link key="n" to="/sandboxes/$id/network" params={{ id: sandbox.id }}>
                    {sandbox.network?.mode ?? 'open'}
                  </Link>,
                ],
                ['Region', sandbox.region_id],
                ['Created', <Away key="c" time={sandbox.created_at} />],
                ['Started', <Away key="s" time={sandbox.started_at} />],
                ['Ephemeral', sandbox.ephemeral ? 'yes: a stop deletes it' : 'no'],
                [
                  'Calls',
                  <Link key="l" to="/activity" search={{ sandbox: sandbox.id }}>
                    Activity
                  </Link>,
                ],
              ]}
            />
          </Panel>
          <Panel title="Environment variables">
            <EnvironmentFacts values={sandbox.env_vars} />
          </Panel>
        </div>
      </div>
    </div>
  );
}

function IdFact({ id }: { id: string }) {
  return (
    <span className="row">
      <code>{id}</code>
      <CopyIcon text={id} label="Copy the ID" />
    </span>
  );
}

function EnvironmentFacts({ values }: { values: Record<string, string> }) {
  const entries = Object.entries(values);
  if (entries.length === 0) return <span className="dimmed">None are set.</span>;
  return <Facts facts={entries.map(([key, value]) => [key, <code key={key}>{value}</code>])} />;
}
