/** Connects an agent or a program: a key, a configuration, a test. */
import { Button, PasswordInput } from '@mantine/core';
import { useState } from 'react';
import { CodeBlock } from '../parts/copy.tsx';
import { Icon } from '../parts/icon.tsx';
import { Page, Panel } from '../parts/page.tsx';
import { KeyDialog } from '../people/key-dialog.tsx';
import { actingTeam } from '../service/acting-team.ts';
import { useActing } from '../shell/team-items.tsx';
import { configurationsFor, KEY_PLACE } from './configurations.ts';
import classes from './connect.module.css';
import { TestPanel } from './test-panel.tsx';

export function ConnectPage() {
  const [key, setKey] = useState('');
  const [making, setMaking] = useState(false);
  const { inside } = useActing();
  // An admin who looks inside makes keys of their own.
  const team = inside ? null : actingTeam();
  const configurations = configurationsFor(
    window.location.origin,
    key.trim() === '' ? KEY_PLACE : key.trim(),
  );
  const [chosen, setChosen] = useState(configurations[0]?.id ?? '');
  const shown = configurations.find(({ id }) => id === chosen) ?? configurations[0];
  return (
    <Page title="Connect" about="An agent reaches sandboxes over MCP, a program over HTTP.">
      <Panel title="An agent that signs in by itself">
        <div>
          An MCP client with OAuth needs this URL only: it opens the page, where you allow it. Applications
          that you have allowed are listed with your keys.
        </div>
        <CodeBlock label="URL of MCP" text={`${window.location.origin}/mcp`} />
      </Panel>
      <Panel title="1. A key, for everything else">
        <div className="row-end">
          <PasswordInput
            className={classes['key'] ?? ''}
            label="API key"
            description="Put into the configuration below; it leaves this page only for the test."
            placeholder="shv_…"
            autoComplete="off"
            value={key}
            onChange={({ currentTarget }) => setKey(currentTarget.value)}
            visibilityToggleButtonProps={{ 'aria-label': 'Show the key' }}
          />
          <Button
            variant="default"
            leftSection={<Icon name="key" size={14} />}
            onClick={() => setMaking(true)}
          >
            Make a key
          </Button>
        </div>
        {team !== null && (
          <div className="dimmed">A key made here is bound to the team that this tab acts for.</div>
        )}
      </Panel>
      <Panel title="2. A configuration">
        <div className={classes['clients']} role="group" aria-label="Client">
          {configurations.map(({ id, name }) => (
            <Button
              key={id}
              variant={id === shown?.id ? 'light' : 'default'}
              aria-pressed={id === shown?.id}
              onClick={() => setChosen(id)}
            >
              {name}
            </Button>
          ))}
        </div>
        {shown && (
          <>
            <div className="dimmed">{shown.where}</div>
            <CodeBlock label={`configuration of ${shown.name}`} text={shown.text} />
          </>
        )}
      </Panel>
      <TestPanel apiKey={key.trim()} />
      {making && <KeyDialog users={[]} team={team} close={() => setMaking(false)} made={setKey} />}
    </Page>
  );
}
