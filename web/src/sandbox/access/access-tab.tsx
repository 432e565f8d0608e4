/** Access to the sandbox: listening ports, SSH, and the revocation of access. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { Confirm, type Question } from '../../parts/confirm.tsx';
import { notifyDone } from '../../parts/notify.tsx';
import { Panel } from '../../parts/page.tsx';
import { client } from '../../service/client.ts';
import classes from '../sandbox.module.css';
import { useSandbox } from '../sandbox.ts';
import { PortsPanel } from './ports-panel.tsx';
import { SshPanel } from './ssh-panel.tsx';
import { TokenPanel } from './token-panel.tsx';

export function AccessTab() {
  const { id, name } = useSandbox();
  const [question, setQuestion] = useState<Question | null>(null);
  const ask = () =>
    setQuestion({
      title: `Revoke access to ${name}?`,
      body: 'Every SSH token, signed URL, preview token and own token of this sandbox stops working, and their open connections end. Your keys still work.',
      action: 'Revoke access',
      async run() {
        const { ssh, previews } = await client.access.revoke(id);
        notifyDone(`Revoked: ${ssh} SSH tokens, ${previews} signed URLs`);
      },
    });
  return (
    <div className={classes['columns']}>
      <PortsPanel />
      <div className={classes['column']}>
        <SshPanel />
        <TokenPanel />
        <Panel title="Access given to others">
          <div className="dimmed">
            SSH tokens, preview URLs and tokens of this sandbox open it without a key, for as long as they are
            valid.
          </div>
          <div>
            <Button variant="default" onClick={ask}>
              Revoke all access
            </Button>
          </div>
        </Panel>
      </div>
      <Confirm question={question} close={() => setQuestion(null)} />
    </div>
  );
}
