/** The screen on which a machine that shows a code is approved. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MEMBER_KEY } from '../surfaces/fakes/fake-services.ts';
import { type Opened, openPage } from './support/open-page.ts';
import { type Visitor, visit } from './support/visitor.ts';

let opened: Opened;

beforeAll(async () => {
  opened = await openPage(1);
}, 60_000);

afterAll(() => opened?.close());

const post = async (path: string, body: object): Promise<Record<string, string>> => {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(opened.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await response.json()) as Record<string, string>;
};

const begin = (machine: string) => post('/v1/sign-in/device', { machine });
const answer = (offer: Record<string, string>) =>
  post('/v1/sign-in/device/answer', { device_code: offer['device_code'] ?? '' });

async function look(code: string): Promise<Visitor> {
  const { visitor } = opened;
  await visitor.go('/device');
  await visitor.fill('Code', code);
  await visitor.click('Look');
  return visitor;
}

it('shows the machine as text, and gives it a key', async () => {
  const name = '<img src=x onerror=alert(1)> laptop';
  const offer = await begin(name);
  const visitor = await look(offer['user_code'] ?? '');
  await visitor.sees(name);
  await visitor.sees('Approve it only if you ran');
  expect(await visitor.broken()).toEqual([]);
  await visitor.click('Approve');
  await visitor.sees('The machine is signed in.');
  expect(await answer(offer)).toMatchObject({ status: 'approved', user_id: 'user_1' });
  expect(visitor.faults.splice(0)).toEqual([]);
});

it('takes the code of the address, once somebody has signed in', async () => {
  const offer = await begin('server');
  const guest = await visit(opened.browser, opened.url);
  await guest.go(`/device#code=${offer['user_code']}`);
  await guest.fill('API key', MEMBER_KEY);
  await guest.page.keyboard.press('Enter');
  await guest.sees('Sign a machine in');
  await guest.click('Look');
  await guest.sees('server');
  await guest.click('Refuse');
  await guest.sees('The machine was refused');
  expect(await answer(offer)).toMatchObject({ code: 'permission_denied' });
});

it('says so when no machine waits', async () => {
  const visitor = await look('BCDF-GHJK');
  await visitor.sees("No machine waits with the code 'BCDF-GHJK'.");
  visitor.faults.splice(0);
});
