/** Ways of signing in beside keys: passkeys, and a password where the service takes them. */
import { Button } from '@mantine/core';
import { browserSupportsWebAuthn } from '@simplewebauthn/browser';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Confirm, type Question } from '../../parts/confirm.tsx';
import { Icon } from '../../parts/icon.tsx';
import { notifyDone } from '../../parts/notify.tsx';
import { Panel } from '../../parts/page.tsx';
import { ProblemPanel } from '../../parts/problem.tsx';
import { ownWaysQuery, waysQuery } from '../../service/queries.ts';
import { addPasskey, ownWays, type Passkey, setPassword } from '../../service/ways.ts';
import { useFresh } from './fresh.tsx';
import { PasskeyTable } from './passkey-table.tsx';
import { PasswordLine } from './password-line.tsx';
import { TextDialog, type TextQuestion } from './text-dialog.tsx';

export function WaysPanel() {
  const { data: offered } = useQuery(waysQuery);
  const ways = offered?.ways;
  const { data: own, error } = useQuery(ownWaysQuery);
  const [text, setText] = useState<TextQuestion | null>(null);
  const [question, setQuestion] = useState<Question | null>(null);
  const fresh = useFresh();
  const questions = useQuestions(fresh.run, () => setText(null));
  if (!ways || (!own && !error)) return null;
  const isOffered = ways.includes('passkey') && browserSupportsWebAuthn();
  const passkeys = own?.passkeys ?? [];
  return (
    <Panel
      title="Passkeys"
      actions={
        isOffered && (
          <Button
            variant="default"
            leftSection={<Icon name="plus" size={14} />}
            onClick={() => setText(questions.add())}
          >
            Add a passkey
          </Button>
        )
      }
    >
      {error && <ProblemPanel title="The passkeys cannot be shown" error={error} />}
      {own && passkeys.length === 0 && (
        <div className="dimmed">
          {isOffered
            ? 'A passkey signs you in with a fingerprint, a face or a PIN of this device.'
            : 'Passkeys work at an address with a name, over HTTPS, or at sandhaven.localhost on the machine itself.'}
        </div>
      )}
      {passkeys.length > 0 && (
        <PasskeyTable
          passkeys={passkeys}
          rename={(passkey) => setText(questions.rename(passkey))}
          remove={(passkey) => setQuestion(questions.remove(passkey, own?.password_changed_at != null))}
        />
      )}
      <PasswordLine
        changedAt={own?.password_changed_at ?? null}
        isTaken={ways.includes('password')}
        hasPasskey={passkeys.length > 0}
        set={() => setText(questions.setPassword())}
        remove={() => setQuestion(questions.removePassword())}
      />
      {text && <TextDialog question={text} close={() => setText(null)} />}
      <Confirm question={question} close={() => setQuestion(null)} />
      {fresh.dialog}
    </Panel>
  );
}

type Run = (action: () => Promise<unknown>) => Promise<void>;

/** @param close Ends the dialog that asks for a text, once its text is saved. */
function useQuestions(run: Run, close: () => void) {
  const queries = useQueryClient();
  const change = (message: string, action: () => Promise<unknown>) =>
    run(async () => {
      await action();
      close();
      notifyDone(message);
      await queries.invalidateQueries({ queryKey: ownWaysQuery.queryKey });
      await queries.invalidateQueries({ queryKey: ['sign-ins'] });
    });
  return {
    add: (): TextQuestion => ({
      ...{ title: 'New passkey', label: 'Name', description: 'The device that stores it', action: 'Add' },
      save: (name) => change(`${name} added`, () => addPasskey(name)),
    }),
    rename: ({ passkey_id: id, name: initial }: Passkey): TextQuestion => ({
      ...{ title: `Rename ${initial}`, label: 'Name', description: 'The device that stores it' },
      ...{ action: 'Rename', initial },
      save: (name) => change(`Renamed to ${name}`, () => ownWays.rename(id, name)),
    }),
    remove: ({ passkey_id: id, name }: Passkey, hasPassword: boolean): Question => ({
      title: `Remove ${name}?`,
      body: `It no longer signs you in, although its device may still show it. ${
        hasPassword ? 'Once you have no passkey, your password alone signs in. ' : ''
      }API keys and links still work. Browsers that it signed in stay signed in: sign them out below.`,
      action: 'Remove',
      run: () => change(`${name} removed`, () => ownWays.remove(id)),
    }),
    setPassword: (): TextQuestion => ({
      ...{ title: 'Password', label: 'New password', description: 'At least 12 characters' },
      ...{ action: 'Save', isPassword: true },
      save: (password) => change('The password is set', () => setPassword(password)),
    }),
    removePassword: (): Question => ({
      title: 'Remove the password?',
      body: 'It no longer signs you in. Passkeys, API keys and links still work.',
      action: 'Remove',
      run: () => change('The password is removed', () => ownWays.removePassword()),
    }),
  };
}
