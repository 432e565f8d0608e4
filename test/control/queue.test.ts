import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOperationQueue } from '../../src/control/turns/operation-queue.ts';
import { SandhavenError } from '../../src/model/errors.ts';

const QUEUED_OPERATIONS = 64;

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe('operations of one sandbox', () => {
  it('run one at a time, in the order they came, whatever their durations', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 20 }), async (turns) => {
        const queue = createOperationQueue();
        const begun: number[] = [];
        let running = 0;
        await Promise.all(
          turns.map((ticks, index) =>
            queue.run('a', async () => {
              expect(++running).toBe(1);
              begun.push(index);
              for (let i = 0; i < ticks; i++) await Promise.resolve();
              running--;
            }),
          ),
        );
        expect(begun).toEqual(turns.map((_, index) => index));
        await queue.idle('a');
        expect(queue.busy('a')).toBe(false);
      }),
    );
  });

  it('go on after one of them fails', async () => {
    const queue = createOperationQueue();
    const failing = queue.run('a', async () => {
      throw new Error('broken');
    });
    const next = queue.run('a', async () => 'fine');
    await expect(failing).rejects.toThrow('broken');
    await expect(next).resolves.toBe('fine');
  });

  it('do not hold up those of another sandbox', async () => {
    const queue = createOperationQueue();
    const { open, opened } = gate();
    const held = queue.run('a', () => opened);
    await expect(queue.run('b', async () => 'b')).resolves.toBe('b');
    open();
    await held;
  });

  it('are refused beyond the limit of the line', async () => {
    const queue = createOperationQueue();
    const { open, opened } = gate();
    const all = Array.from({ length: QUEUED_OPERATIONS + 1 }, () => queue.run('a', () => opened));
    await expect(queue.run('a', async () => {})).rejects.toMatchObject({
      code: 'resource_exhausted',
      fields: { retryable: true, hint: expect.stringContaining('Wait') },
    });
    open();
    await Promise.all(all);
  });
});

describe('waiting for quiet', () => {
  it('ends when the last operation does, a pre-empting one too', async () => {
    const queue = createOperationQueue();
    const { open, opened } = gate();
    const deleting = queue.preempt('a', () => opened);
    let quiet = false;
    const drained = queue.drained().then(() => {
      quiet = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(quiet).toBe(false);
    open();
    await Promise.all([deleting, drained, queue.idle('a')]);
    expect(queue.busy('a')).toBe(false);
  });
});

describe('a delete', () => {
  it('[WIRE-BOX-18] goes first: running work is aborted, waiting work fails, later work is refused', async () => {
    const queue = createOperationQueue();
    const order: string[] = [];
    const running = queue.run('a', async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      order.push('running gave up');
      throw signal.reason;
    });
    const waiting = queue.run('a', async () => order.push('waiting ran'));
    const deleting = queue.preempt('a', async () => order.push('deleted'));
    const late = queue.run('a', async () => order.push('late ran'));
    for (const refused of [running, waiting, late]) {
      await expect(refused).rejects.toBeInstanceOf(SandhavenError);
      await expect(refused).rejects.toMatchObject({
        code: 'invalid_state',
        fields: { parameter: 'sandbox' },
      });
    }
    await deleting;
    expect(order).toEqual(['running gave up', 'deleted']);
    await expect(queue.run('a', async () => 'afterwards')).resolves.toBe('afterwards');
  });
});
