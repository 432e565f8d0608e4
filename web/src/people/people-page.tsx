/** Users with their quotas, and keys; a member sees their own. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Icon } from '../parts/icon.tsx';
import { Loading } from '../parts/loading.tsx';
import { Page } from '../parts/page.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { usersQuery } from '../service/queries.ts';
import type { User } from '../service/records.ts';
import { useSignedIn } from '../shell/signed-in.ts';
import { AppsPanel } from './apps-panel.tsx';
import { KeysPanel } from './keys-panel.tsx';
import classes from './people.module.css';
import { SignInsPanel } from './sign-ins-panel.tsx';
import { TeamsPanel } from './teams-panel.tsx';
import { UserCard } from './user-card.tsx';
import { UserDialog } from './user-dialog.tsx';
import { WaysPanel } from './ways/ways-panel.tsx';

export function PeoplePage() {
  const { role } = useSignedIn();
  const isAdmin = role === 'admin';
  const { data, error, refetch } = useQuery(usersQuery);
  const [edited, setEdited] = useState<User | 'new' | null>(null);
  return (
    <Page
      title={isAdmin ? 'People and keys' : 'Your keys'}
      actions={
        isAdmin && (
          <Button leftSection={<Icon name="plus" size={14} />} onClick={() => setEdited('new')}>
            New user
          </Button>
        )
      }
    >
      {error && <ProblemPanel title="The users cannot be shown" error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading what="users" />}
      <section className={classes['users']} aria-label="Users">
        {data?.map((user) => (
          <UserCard key={user.user_id} user={user} edit={setEdited} />
        ))}
      </section>
      <TeamsPanel />
      <KeysPanel users={data ?? []} />
      <WaysPanel />
      <SignInsPanel />
      <AppsPanel />
      {edited !== null && (
        <UserDialog user={edited === 'new' ? null : edited} close={() => setEdited(null)} />
      )}
    </Page>
  );
}
