/** Connects an agent or a program: a key, a configuration, a test. */
import { Button, PasswordInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { CodeBlock } from '../parts/copy.tsx';
import { Icon } from '../parts/icon.tsx';
import { Page, Panel } from '../parts/page.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { KeyDialog } from '../people/key-dialog.tsx';
import { actingTeam } from '../service/acting-team.ts';
import { request } from '../service/request.ts';
import { useActing } from '../shell/team-items.tsx';
import { configurationsFor, KEY_PLACE } from './configurations.ts';
import classes from './connect.module.css';
import { TestPanel } from './test-panel.tsx';

/** The address for programs: they do not resolve every name that a browser does. */
const addressQuery = {
  queryKey: ['address-for-programs'],
  queryFn: async () => (await request<{ url: string }>('GET', '/packages')).url,
};

export function ConnectPage() {
  const { data: url, error } = useQuery(addressQuery);
  return (
    <Page title="Connect" about="An agent reaches sandboxes over MCP, a program over HTTP.">
      {error && <ProblemPanel title="The address of the service is not known" error={error} />}
      {url !== undefined && <Ways url={url} />}
    </Page>
  );
}

function Ways({ url }: { url: string }) {
  const [key, setKey] = useState('');
  const [making, setMaking] = useState(false);
  const { inside } = useActing();
  // An admin who looks inside makes keys of their own.
  const team = inside ? null : actingTeam();
  const configurations = configurationsFor(url, key.trim() === '' ? KEY_PLACE : key.trim());
  const [chosen, setChosen] = useState(configurations[0]?.id ?? '');
  const shown = configurations.find(({ id }) => id === chosen) ?? configurations[0];
  return (
    <>
      <Panel title="An agent that signs in by itself">
        <div>
          An MCP client with OAuth needs this URL only: it opens the page, where you allow it. Applications
          that you have allowed are listed with your keys.
        </div>
        <CodeBlock label="URL of MCP" text={`${url}/mcp`} />
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
            {shown.install !== undefined && (
              <CodeBlock label={`installation for ${shown.name}`} text={shown.install} />
            )}
            <CodeBlock label={`configuration of ${shown.name}`} text={shown.text} />
          </>
        )}
      </Panel>
      <TestPanel apiKey={key.trim()} />
      {making && <KeyDialog users={[]} team={team} close={() => setMaking(false)} made={setKey} />}
    </>
  );
}
