/** The switch between the user and their teams, with the owner that this tab acts for. */
import { Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Icon } from '../parts/icon.tsx';
import { actFor, actingTeam } from '../service/acting-team.ts';
import { actingQuery, teamsQuery } from '../service/queries.ts';
import { useSignedIn } from './signed-in.ts';

export interface Acting {
  /** Name of the team, or of the user inside whose sandboxes an admin looks; null: the user. */
  team: string | null;
  /** Nothing may be changed. */
  viewer: boolean;
  /** An admin looks inside, and is in no such team. */
  inside: boolean;
}

export function useActing(): Acting {
  const { role } = useSignedIn();
  const acting = actingTeam();
  const { data } = useQuery({ ...actingQuery, enabled: acting !== null });
  const isViewer = role === 'viewer';
  if (acting === null) return { team: null, viewer: isViewer, inside: false };
  const team = data?.team;
  return {
    team: team?.name ?? 'a team',
    viewer: isViewer || team?.role === 'viewer',
    inside: team?.as_admin === true,
  };
}

/** Shown where there is a choice: an admin sees all teams, and acts for those they are in. */
export function TeamItems() {
  const { user } = useSignedIn();
  const acting = actingTeam();
  const { team, inside } = useActing();
  const { data = [] } = useQuery(teamsQuery);
  const own = data.filter(({ members }) => members.some(({ user_id }) => user_id === user.id));
  if (own.length === 0 && acting === null) return null;
  const owners = [
    { id: null, name: 'Yourself' },
    ...own.map(({ team_id, name }) => ({ id: team_id, name: `Team ${name}` })),
    ...(inside ? [{ id: acting, name: `Inside ${team}` }] : []),
  ];
  return (
    <>
      {owners.map(({ id, name }) => (
        <Menu.Item
          key={id ?? ''}
          role="menuitemradio"
          aria-checked={id === acting}
          {...(id === acting ? { leftSection: <Icon name="check" /> } : {})}
          onClick={() => actFor(id)}
        >
          {name}
        </Menu.Item>
      ))}
      <Menu.Divider />
    </>
  );
}
