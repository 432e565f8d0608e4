/** The signed-in user, and the way out. */
import { Menu, UnstyledButton } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Icon } from '../parts/icon.tsx';
import { notifyFailed } from '../parts/notify.tsx';
import { actFor, actingTeam } from '../service/acting-team.ts';
import { signInQuery } from '../service/queries.ts';
import { signInKey } from '../service/query-client.ts';
import { signOut } from '../service/sign-in.ts';
import classes from './shell.module.css';
import { useSignedIn } from './signed-in.ts';
import { TeamItems, useActing } from './team-items.tsx';

export function AccountMenu({ compact = false }: { compact?: boolean }) {
  const { user, role } = useSignedIn();
  const { team } = useActing();
  const queries = useQueryClient();
  const leave = async () => {
    try {
      // The answer to a sign-out clears what this tab has stored.
      const acting = actingTeam();
      await signOut();
      // The clients of this page were made for the team: only a page that is loaded anew has others.
      if (acting !== null) return actFor(null);
      queries.setQueryData(signInQuery.queryKey, null);
      // Nothing of this user stays for the next one.
      queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== signInKey[0] });
    } catch (error) {
      notifyFailed('Still signed in', error);
    }
  };
  return (
    <Menu position={compact ? 'bottom-end' : 'top-start'} width={230}>
      <Menu.Target>
        <UnstyledButton
          className={classes['account']}
          {...(compact ? { 'aria-label': `Account of ${user.name}` } : {})}
        >
          <span className={classes['avatar']} aria-hidden="true">
            {initial(user.name)}
          </span>
          {!compact && (
            <span className="grow">
              <span className={classes['accountName']}>{user.name}</span>
              <span className={`${classes['accountRole']} dimmed`}>
                {team === null ? role : `for ${team}`}
              </span>
            </span>
          )}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{user.email}</Menu.Label>
        <TeamItems />
        <Menu.Item
          data-autofocus
          renderRoot={(props) => <Link to="/people" {...props} />}
          leftSection={<Icon name="key" />}
        >
          Keys
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="logout" />} onClick={() => void leave()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function initial(name: string): string {
  return (Array.from(name.trim())[0] ?? '?').toLocaleUpperCase();
}
