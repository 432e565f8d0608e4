/** Asks the person who is signed in whether an application may act for them. */
import { Alert, Button, Checkbox } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { Icon } from '../parts/icon.tsx';
import { Loading } from '../parts/loading.tsx';
import { Facts, Page, Panel } from '../parts/page.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { type AppRequest, decideAppRequest, readAppRequest } from '../service/apps.ts';
import { useSignedIn } from '../shell/signed-in.ts';
import { placeOf, wordsOf } from './scope-words.ts';

const route = getRouteApi('/authorize/$uid');

export function AuthorizePage() {
  const { uid } = route.useParams();
  const { data, error } = useQuery({
    queryKey: ['app-request', uid],
    queryFn: () => readAppRequest(uid),
    // Ends with the decision, after which the page is left.
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Page title="Allow an application?" tab="Allow an application">
      {error && <ProblemPanel title="The request cannot be shown" error={error} />}
      {!data && !error && <Loading what="request" lines={4} />}
      {data && <Decision uid={uid} asked={data} />}
    </Page>
  );
}

function Decision({ uid, asked }: { uid: string; asked: AppRequest }) {
  const { user } = useSignedIn();
  const { client, scopes } = asked;
  const [chosen, setChosen] = useState(scopes);
  const decide = useMutation({
    mutationFn: (given: string[] | null) => decideAppRequest(uid, given),
    onSuccess: (next) => window.location.assign(next),
  });
  const isOver = decide.isPending || decide.isSuccess;
  const change = (scope: string, isWanted: boolean) =>
    setChosen(scopes.filter((one) => (one === scope ? isWanted : chosen.includes(one))));
  return (
    <Panel title="The request">
      <Facts
        facts={[
          ['Application', client.name ?? 'without a name'],
          ['You continue to', <strong key="host">{placeOf(client.redirect_host)}</strong>],
          ['Known by', client.described_at ?? 'nothing but its own words'],
          ['It acts as', `${user.name} (${user.email})`],
        ]}
      />
      <Alert variant="light" icon={<Icon name="warning" />} title="Only if you began this yourself">
        An application chooses its own name. Allow it only if you have just connected it and know the address
        that you continue to.
      </Alert>
      <fieldset className="stack" style={{ border: 0, margin: 0, padding: 0 }}>
        <legend>It may, over MCP:</legend>
        {scopes.map((scope) => (
          <Checkbox
            key={scope}
            label={wordsOf(scope)}
            description={scope}
            checked={chosen.includes(scope)}
            onChange={({ currentTarget }) => change(scope, currentTarget.checked)}
          />
        ))}
        {scopes.length === 0 && <p>It asks for nothing that this sign-in can give.</p>}
      </fieldset>
      {decide.error && <ProblemPanel title="Nothing was decided" error={decide.error} />}
      <div className="row">
        <Button disabled={chosen.length === 0 || isOver} onClick={() => decide.mutate(chosen)}>
          Allow
        </Button>
        <Button variant="default" disabled={isOver} onClick={() => decide.mutate(null)}>
          Deny
        </Button>
      </div>
    </Panel>
  );
}
