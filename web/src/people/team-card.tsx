/** One team: its members, and the use of each quota. An admin changes it. */
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Confirm, type Question } from '../parts/confirm.tsx';
import { notifyDone } from '../parts/notify.tsx';
import { administration } from '../service/administration.ts';
import type { Team, TeamMember } from '../service/records.ts';
import { useSignedIn } from '../shell/signed-in.ts';
import { MemberForm } from './member-form.tsx';
import classes from './people.module.css';
import { QuotaMeters } from './quota-meters.tsx';

export function TeamCard({ team }: { team: Team }) {
  const { role } = useSignedIn();
  const queries = useQueryClient();
  const [question, setQuestion] = useState<Question | null>(null);
  const { team_id: id, name, members, usage } = team;
  const ask = (asked: Omit<Question, 'danger' | 'run'>, done: string, run: () => Promise<unknown>) =>
    setQuestion({
      ...asked,
      danger: true,
      async run() {
        await run();
        notifyDone(done);
        await queries.invalidateQueries({ queryKey: ['teams'] });
      },
    });
  const remove = (member: TeamMember) =>
    ask(
      {
        title: `Remove ${member.name} from ${name}?`,
        body: 'Their open work in its sandboxes ends, and so do all SSH access and previews of these sandboxes.',
        action: 'Remove',
      },
      `${member.name} removed`,
      () => administration.removeTeamMember({ team: id, user: member.user_id }),
    );
  const deleteTeam = () =>
    ask(
      {
        title: `Delete team ${name}?`,
        body: 'Its keys stop working. A team that owns sandboxes or snapshots cannot be deleted.',
        action: 'Delete',
      },
      `${name} deleted`,
      () => administration.deleteTeam(id),
    );
  return (
    <article className={classes['user']}>
      <h2 className="break">{name}</h2>
      <ul aria-label={`Members of ${name}`}>
        {members.map((member) => (
          <li key={member.user_id} className="row">
            <span className="grow break">{member.name}</span>
            <span className="dimmed small">{member.role}</span>
            {role === 'admin' && (
              <Button
                variant="default"
                size="compact-xs"
                onClick={() => remove(member)}
                aria-label={`Remove ${member.name}`}
              >
                Remove
              </Button>
            )}
          </li>
        ))}
      </ul>
      <QuotaMeters usage={usage} />
      {role === 'admin' && <MemberForm team={team} />}
      {role === 'admin' && (
        <Button variant="default" onClick={deleteTeam} aria-label={`Delete team ${name}`}>
          Delete team
        </Button>
      )}
      <Confirm question={question} close={() => setQuestion(null)} />
    </article>
  );
}
