import { describe, expect, it } from 'vitest';
import { interleave } from '../../bench/base/interleave.ts';

const running = () => new AbortController();

describe('interleaved rounds', () => {
  it('give every side one turn a round, in the orders of a cycle', async () => {
    const order: string[] = [];
    const turn = (side: string) => async () => {
      order.push(side);
      return { runCommand: 1 };
    };
    const rounds = { counted: 6, warmUps: 0, pauseMs: 0, signal: running().signal };
    await interleave(rounds, { sandhaven: turn('s'), docker: turn('d'), dockerApi: turn('a') });
    expect(order.join('')).toBe('sdaasddsaadssaddas');
  });

  it('are whole cycles, and the warm-ups end the cycle before', async () => {
    const order: string[] = [];
    const turn = (side: string) => async () => {
      order.push(side);
      return { runCommand: 1 };
    };
    const rounds = { counted: 3, warmUps: 1, pauseMs: 0, signal: running().signal };
    const samples = await interleave(rounds, { sandhaven: turn('s'), docker: turn('d') });
    expect(order.join('')).toBe('dssddssdds');
    expect(samples.runCommand?.sandhaven).toHaveLength(4);
  });

  it('stay fewer than a cycle where fewer are asked for', async () => {
    const turn = async () => ({ runCommand: 1 });
    const rounds = { counted: 2, warmUps: 0, pauseMs: 0, signal: running().signal };
    const samples = await interleave(rounds, { sandhaven: turn, docker: turn, dockerApi: turn });
    expect(samples.runCommand?.dockerApi).toHaveLength(2);
  });

  it('do not count the warm-ups', async () => {
    let turns = 0;
    const rounds = { counted: 2, warmUps: 3, pauseMs: 0, signal: running().signal };
    const samples = await interleave(rounds, { sandhaven: async () => ({ runCommand: ++turns }) });
    expect(samples).toEqual({ runCommand: { sandhaven: [4, 5] } });
  });

  it('end before the next turn when they are aborted', async () => {
    const controller = running();
    let turns = 0;
    const rounds = { counted: 5, warmUps: 0, pauseMs: 0, signal: controller.signal };
    const ended = interleave(rounds, {
      async sandhaven() {
        if (++turns === 2) controller.abort(new Error('enough'));
        return { runCommand: 1 };
      },
    });
    await expect(ended).rejects.toThrow('enough');
    expect(turns).toBe(2);
  });
});
