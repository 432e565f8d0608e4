/** Work that many want in one turn of the event loop is done for one of them a turn. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { OneATurn } from '../../src/gateways/one-a-turn.ts';

it('those who ask are served one a turn, in order: once however often they ask, and not when they withdraw', async () => {
  const line = new OneATurn();
  const served: string[] = [];
  const work = (name: string) => () => void served.push(name);
  const [a, b, c, d] = [work('a'), work('b'), work('c'), work('d')];
  for (const each of [a, b, a, c, d]) line.ask(each);
  line.withdraw(c);
  for (const expected of ['', 'a', 'ab', 'abd', 'abd']) {
    expect(served.join('')).toBe(expected);
    await nextTurn();
  }
});

it('who asks again when served comes behind the others, and a turn still serves one', async () => {
  const line = new OneATurn();
  const served: string[] = [];
  const greedy = () => {
    served.push('g');
    if (served.length < 6) line.ask(greedy);
  };
  line.ask(greedy);
  line.ask(() => void served.push('m'));
  for (const expected of ['', 'g', 'gm', 'gmg', 'gmgg', 'gmggg', 'gmgggg', 'gmgggg']) {
    expect(served.join('')).toBe(expected);
    await nextTurn();
  }
});
