/** Adds a user to a team, or changes the role of one who is in it. */
import { Button, Select } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { notifyDone } from '../parts/notify.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { administration } from '../service/administration.ts';
import { usersQuery } from '../service/queries.ts';
import type { Team } from '../service/records.ts';

export function MemberForm({ team }: { team: Team }) {
  const queries = useQueryClient();
  const { data: users = [] } = useQuery(usersQuery);
  const [user, setUser] = useState<string | null>(null);
  const [role, setRole] = useState('member');
  const add = useMutation({
    mutationFn: (chosen: string) => administration.addTeamMember({ team: team.team_id, user: chosen, role }),
    async onSuccess() {
      notifyDone('Member saved');
      setUser(null);
      await queries.invalidateQueries({ queryKey: ['teams'] });
    },
  });
  return (
    <div className="stack">
      <div className="row">
        <Select
          aria-label={`User for ${team.name}`}
          placeholder="User"
          searchable
          data={users.map(({ user_id, name, email }) => ({ value: user_id, label: `${name}, ${email}` }))}
          value={user}
          onChange={setUser}
        />
        <Select
          aria-label={`Role in ${team.name}`}
          allowDeselect={false}
          data={['member', 'viewer']}
          value={role}
          onChange={(chosen) => setRole(chosen ?? 'member')}
        />
        <Button
          variant="default"
          disabled={user === null}
          loading={add.isPending}
          onClick={() => user !== null && add.mutate(user)}
          aria-label={`Add to ${team.name}`}
        >
          Add
        </Button>
      </div>
      {add.error && <ProblemPanel title="Not added" error={add.error} />}
    </div>
  );
}
