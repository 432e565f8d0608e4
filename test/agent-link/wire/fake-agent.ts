/** An agent that says what a test wants it to say, in place of a real one. */
import { Duplex, duplexPair } from 'node:stream';
import { createAgentLink } from '../../../src/agent-link/agent-link.ts';
import type { OpenChannel } from '../../../src/agent-link/exchange.ts';
import { encodeJson, type FrameType, frameHeader, frameTypes } from '../../../src/agent-link/frames.ts';
import type { AgentLink } from '../../../src/control/ports/index.ts';

export const SANDBOX = 'sb_0123456789abcdef';

export interface FakeAgent {
  link: AgentLink;
  openChannel: OpenChannel;
  /** What the host has sent on the last channel. */
  received(): Buffer;
  /** Whether the host has closed the last channel. */
  closed(): boolean;
}

/** Opens a channel: gives the agent's end of it to `agent`, and the host's to the caller. */
export type Carry = (agent: (channel: Duplex) => void) => Promise<Duplex>;

const inMemory: Carry = async (agent) => {
  const [ours, theirs] = duplexPair();
  agent(theirs);
  return ours;
};

/** @param behave Gets the agent's end of each channel as it is opened. */
export function fakeAgent(behave: (channel: Duplex) => void, carry = inMemory): FakeAgent {
  let received: Buffer[] = [];
  let host = new Duplex();
  const openChannel = async () => {
    received = [];
    host = await carry((theirs) => {
      theirs.on('error', () => {});
      theirs.on('data', (chunk: Buffer) => received.push(chunk));
      behave(theirs);
    });
    return host;
  };
  return {
    link: createAgentLink({ openChannel }),
    openChannel,
    received: () => Buffer.concat(received),
    closed: () => host.destroyed,
  };
}

/** Answers every channel with these bytes as soon as anything has come, and then waits or closes. */
export function answering(bytes: Buffer, then: 'wait' | 'close' = 'wait', carry = inMemory): FakeAgent {
  return fakeAgent((channel) => {
    channel.once('data', () => {
      channel.write(bytes);
      if (then === 'close') channel.end();
    });
  }, carry);
}

/** Answers the first channel with the first of these, the next one with the next, and waits. */
export function answeringInTurn(answers: Buffer[], carry = inMemory): FakeAgent {
  const left = [...answers];
  return fakeAgent((channel) => {
    const bytes = left.shift() ?? Buffer.alloc(0);
    channel.once('data', () => void channel.write(bytes));
  }, carry);
}

/** The answer to the greeting of an agent that speaks this version. */
export const greeting = (version: number, generation = 7): Buffer =>
  reply({ version, sandbox_id: SANDBOX, generation });

export const reply = (json: unknown): Buffer => encodeJson(frameTypes.reply, json);
export const item = (json: unknown): Buffer => encodeJson(frameTypes.item, json);
export const fault = (json: unknown): Buffer => encodeJson(frameTypes.error, json);
export const data = (content: Buffer | string): Buffer => frame(frameTypes.data, Buffer.from(content));
export const end = (): Buffer => frame(frameTypes.end, Buffer.alloc(0));

function frame(type: FrameType, payload: Buffer): Buffer {
  return Buffer.concat([frameHeader(type, payload.length), payload]);
}
