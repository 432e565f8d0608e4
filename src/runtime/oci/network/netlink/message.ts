/**
 * Messages for nf_tables (nfnetlink, linux/netfilter/nf_tables.h), which the spawner sends: a change takes a fraction of a
 * millisecond, where starting nft takes five, and nft reads much of the table first.
 */
import { sendNetfilter } from '../../../programs/run-program.ts';
import { ownU16, ownU32, readU16, readU32 } from './attribute.ts';

/** Numbers of nf_tables' messages. */
export const types = {
  newChain: 3,
  deleteChain: 5,
  newRule: 6,
  listRules: 7,
  deleteRule: 8,
  newSet: 9,
  deleteSet: 11,
  newElement: 12,
  listElements: 13,
  deleteElement: 14,
  newGeneration: 15,
  getGeneration: 16,
  newObject: 18,
  getObject: 19,
} as const;

export interface Message {
  type: number;
  /** Flags beside that of a request. */
  flags: number;
  body: Buffer;
}

export const flags = { create: 0x400, append: 0x800, dump: 0x300 } as const;

const TABLES = 10;
const FAMILY_INET = 1;
const HEADER_BYTES = 16;
const GENERAL_BYTES = 4;
const BEGIN = 0x10;
const END = 0x11;
const REQUEST = 0x1;
const ACKNOWLEDGE = 0x4;

/** Applies the messages in one transaction: all, or none when the kernel refuses one. Rejects with the kernel's error. */
export async function apply(messages: Message[]): Promise<void> {
  await send(batch(messages));
}

/** Returns the bodies of the kernel's answers to a question. Rejects with its error, such as ENOENT. */
export async function ask(question: Message): Promise<Buffer[]> {
  // A list has an end of its own, which an acknowledgement would be taken for.
  const extra = question.flags === flags.dump ? 0 : ACKNOWLEDGE;
  return bodiesIn(
    await send(written((TABLES << 8) | question.type, REQUEST | question.flags | extra, 0, question)),
  );
}

/** One transaction. The last message asks for an answer; a refused one is answered in any case. */
export function batch(messages: Message[]): Buffer {
  const rim = { body: Buffer.alloc(0) };
  const last = messages.length - 1;
  return Buffer.concat([
    written(BEGIN, REQUEST, 0, rim, TABLES),
    ...messages.map((message, i) => {
      const answered = i === last ? ACKNOWLEDGE : 0;
      return written((TABLES << 8) | message.type, REQUEST | message.flags | answered, i + 1, message);
    }),
    written(END, REQUEST, messages.length + 1, rim, TABLES),
  ]);
}

/** Returns the bodies of messages. Throws for lengths that cannot be. */
export function bodiesIn(answer: Buffer): Buffer[] {
  const bodies: Buffer[] = [];
  for (let at = 0; at < answer.length; ) {
    const length = at + 4 <= answer.length ? readU32(answer, at) : 0;
    if (length < HEADER_BYTES || at + length > answer.length) throw new Error('a message of no sound length');
    // Others are of netlink itself.
    if (readU16(answer, at + 4) >> 8 === TABLES) {
      bodies.push(answer.subarray(at + HEADER_BYTES + GENERAL_BYTES, at + length));
    }
    at += (length + 3) & ~3;
  }
  return bodies;
}

/** Numbers of the header have the order of the machine, the resource's alone that of networks. */
function written(
  type: number,
  flag: number,
  sequence: number,
  { body }: Pick<Message, 'body'>,
  resource = 0,
): Buffer {
  const general = Buffer.from([resource === 0 ? FAMILY_INET : 0, 0, resource >> 8, resource & 0xff]);
  const length = HEADER_BYTES + GENERAL_BYTES + body.length;
  return Buffer.concat([
    ownU32(length),
    ownU16(type),
    ownU16(flag),
    ownU32(sequence),
    ownU32(0),
    general,
    body,
  ]);
}

async function send(bytes: Buffer): Promise<Buffer> {
  const sent = sendNetfilter(bytes);
  if (sent === null) throw new Error('no spawner sends messages to the kernel');
  return sent;
}
