/** Teams: those of the signed-in user, and for an admin all, who makes new ones. */
import { Button, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { notifyDone } from '../parts/notify.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { administration } from '../service/administration.ts';
import { teamsQuery } from '../service/queries.ts';
import { useSignedIn } from '../shell/signed-in.ts';
import classes from './people.module.css';
import { TeamCard } from './team-card.tsx';

export function TeamsPanel() {
  const { role } = useSignedIn();
  const { data = [], error, refetch } = useQuery(teamsQuery);
  if (role !== 'admin' && data.length === 0 && !error) return null;
  return (
    <section className="stack" aria-label="Teams">
      <h2>Teams</h2>
      {error && <ProblemPanel title="The teams cannot be shown" error={error} retry={() => void refetch()} />}
      <div className={classes['users']}>
        {data.map((team) => (
          <TeamCard key={team.team_id} team={team} />
        ))}
      </div>
      {role === 'admin' && <NewTeam />}
    </section>
  );
}

function NewTeam() {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const create = useMutation({
    mutationFn: () => administration.createTeam(name.trim()),
    async onSuccess() {
      notifyDone(`Team ${name.trim()} created`);
      setName('');
      await queries.invalidateQueries({ queryKey: ['teams'] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <form className="stack" onSubmit={submit}>
      <div className="row">
        <TextInput
          aria-label="Name of a new team"
          placeholder="Name of a new team"
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Button type="submit" variant="default" disabled={name.trim() === ''} loading={create.isPending}>
          New team
        </Button>
      </div>
      {create.error && <ProblemPanel title="Not created" error={create.error} />}
    </form>
  );
}
