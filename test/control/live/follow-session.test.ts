/** Live output of a session's command, from its log. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type {
  AgentSessions,
  FollowedBytes,
  LiveOutput,
  LivePiece,
} from '../../../src/control/ports/index.ts';
import { shownWhile } from '../../../src/control/work/follow-session.ts';
import { notFound, SandhavenError } from '../../../src/model/errors.ts';

type Request = Parameters<AgentSessions['followSessionBytes']>[1];
type Answer = Omit<FollowedBytes, 'exitCode'>;

const printed = (output: string, nextOffset: number, more: Partial<Answer> = {}): Answer => ({
  ...{ output, nextOffset, status: 'running', truncated: false },
  pieces: [{ stream: 'stdout' as const, bytes: Buffer.from(output), leftOutBytes: 0 }],
  ...more,
});
const nothing = (offset: number) => printed('', offset);
const gone = notFound('command', 'There is no such command.');

/** What is shown while these answers come, the last of them again and again. */
async function shownOf(
  answers: (Answer | Error)[],
  work: (asked: Request[]) => Promise<unknown>,
  whole = false,
) {
  const asked: Request[] = [];
  const pieces: LivePiece[] = [];
  const agent = {
    async followSessionBytes(_sandbox: string, request: Request) {
      asked.push(request);
      const answer = answers[Math.min(asked.length, answers.length) - 1];
      if (!answer || answer instanceof Error) throw answer;
      return { exitCode: answer.status === 'completed' ? 0 : null, ...answer };
    },
  };
  const live: LiveOutput = { whole, show: (piece) => void pieces.push(piece) };
  const command = { agent, sandboxId: 'sb_1', generation: 7, sessionId: 's', commandId: 'c', live };
  const ended = work(asked).then((output) => ({ output: String(output) }));
  const result = await shownWhile(command, ended).then(
    ({ output }) => output,
    (error: unknown) => error,
  );
  return { asked, pieces: pieces.map(readable), result };
}

const readable = ({ bytes, ...piece }: LivePiece) => ({ ...piece, text: bytes.toString('latin1') });

const untilAsked = (times: number) => async (asked: Request[]) => {
  while (asked.length < times) await sleep(5);
  return 'the result';
};

describe('live output of a session command', () => {
  it('is its log from the start, each part once, with what came last before the result', async () => {
    const answers = [
      printed('one\n', 4),
      printed('two\n', 8),
      printed('three\n', 14, { status: 'completed' }),
    ];
    const { asked, pieces, result } = await shownOf(answers, untilAsked(2));
    expect(result).toBe('the result');
    expect(pieces).toEqual([
      { stream: 'stdout', text: 'one\n', leftOutBytes: 0 },
      { stream: 'stdout', text: 'two\n', leftOutBytes: 0 },
      { stream: 'stdout', text: 'three\n', leftOutBytes: 0 },
    ]);
    expect(asked.map(({ offset, waitMs }) => [offset, waitMs])).toEqual([
      [0, 500],
      [4, 500],
      [8, 0],
    ]);
  });

  it('asks no more once the command has ended', async () => {
    const { asked } = await shownOf([printed('all\n', 4, { status: 'completed' })], () => sleep(300));
    expect(asked).toHaveLength(1);
  });

  it('waits for a command that the agent has yet to hear of', async () => {
    const { pieces } = await shownOf([gone, gone, printed('late\n', 5), nothing(5)], untilAsked(4));
    expect(pieces).toEqual([{ stream: 'stdout', text: 'late\n', leftOutBytes: 0 }]);
  });

  it('ends with the first failure, and the result is the same', async () => {
    const old = new SandhavenError('failed_precondition', 'This agent speaks versions 1 to 2.');
    const { asked, pieces, result } = await shownOf([old], () => sleep(200, 'the result'));
    expect(result).toBe('the result');
    expect(asked).toHaveLength(1);
    expect(pieces).toEqual([]);
  });

  it('of one who wants it whole goes on with the result where the log cannot be followed', async () => {
    const dropped = new SandhavenError('unavailable', 'The connection to the sandbox broke.');
    const work = async (asked: Request[]) => {
      await untilAsked(2)(asked);
      return 'one\ntwo\n';
    };
    const { pieces } = await shownOf([printed('one\n', 4), dropped], work, true);
    expect(pieces.map(({ text }) => text)).toEqual(['one\n', 'two\n']);
  });

  it('has a gap where the log has lost a part', async () => {
    const cut = printed('', 99, { truncated: true });
    cut.pieces = [
      { stream: 'stdout' as const, bytes: Buffer.from('he'), leftOutBytes: 0 },
      { stream: 'stdout' as const, bytes: Buffer.from('il'), leftOutBytes: 95 },
    ];
    const { pieces } = await shownOf([cut, nothing(99)], untilAsked(2));
    expect(pieces).toEqual([
      { stream: 'stdout', text: 'he', leftOutBytes: 0 },
      { stream: 'stdout', text: 'il', leftOutBytes: 95 },
    ]);
  });

  it('comes in short pieces, byte for byte', async () => {
    const text = `a${'\xf0'.repeat(40_000)}`;
    const whole = printed('', 40_001, { status: 'completed' });
    whole.pieces = [{ stream: 'stdout' as const, bytes: Buffer.from(text, 'latin1'), leftOutBytes: 0 }];
    const { pieces } = await shownOf([whole], untilAsked(1));
    expect(pieces.map((piece) => piece.text.length)).toEqual([16_384, 16_384, 7_233]);
    expect(pieces.map((piece) => piece.text).join('')).toBe(text);
  });

  it('has a bound, beyond which it is counted once, at the end', async () => {
    const megabyte = 'x'.repeat(1 << 20);
    const answers = Array.from({ length: 16 }, (_, index) => printed(megabyte, (index + 1) << 20));
    const cut = printed(megabyte, 20 << 20, { truncated: true });
    const { asked, pieces } = await shownOf([...answers, cut], async (asked) => {
      await untilAsked(16)(asked);
      await sleep(300);
    });
    expect(asked).toHaveLength(17);
    expect(pieces.reduce((sum, piece) => sum + piece.text.length, 0)).toBe(16 << 20);
    expect(pieces.reduce((sum, piece) => sum + piece.leftOutBytes, 0)).toBe(4 << 20);
  });

  it('of an agent that goes back, or answers at once for ever, is no busy loop', async () => {
    const back = await shownOf([printed('abc', 3), printed('abc', 1)], () => sleep(300));
    expect(back.asked).toHaveLength(2);
    const eager = await shownOf([nothing(0)], () => sleep(500));
    expect(eager.asked.length).toBeLessThanOrEqual(12);
  });

  it('ends when the call fails', async () => {
    const { asked, result } = await shownOf([nothing(0)], async () => {
      await sleep(100);
      throw new Error('the client has gone');
    });
    expect(result).toMatchObject({ message: 'the client has gone' });
    const { length } = asked;
    await sleep(200);
    expect(asked).toHaveLength(length);
  });
});
