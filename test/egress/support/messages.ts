/** Bytes of the protocols that tests speak by hand: DNS messages, and the hello of TLS. */

export const types = { A: 1, CNAME: 5, NULL: 10, MX: 15, TXT: 16, AAAA: 28, OPT: 41, HTTPS: 65, ANY: 255 };

export interface Answer {
  code: number;
  addresses: string[];
  ttl: number | null;
  /** Code and text of the extended error. */
  extended: { code: number; text: string } | null;
}

export function question(name: string, type: number, more: { edns?: boolean; id?: number } = {}): Buffer {
  const { edns = true, id = 0x1234 } = more;
  const head = numbers(id, 0x0100, 1, 0, 0, edns ? 1 : 0);
  const opt = edns ? Buffer.concat([Buffer.from([0]), numbers(types.OPT, 1232, 0, 0, 0)]) : Buffer.alloc(0);
  return Buffer.concat([head, encodeName(name), numbers(type, 1), opt]);
}

/** Reads an answer of the egress program, whose records have the asked name as a pointer. */
export function readAnswer(message: Buffer): Answer {
  const [questions, answers, options] = [4, 6, 10].map((at) => message.readUInt16BE(at));
  const answer: Answer = { code: message.readUInt16BE(2) & 15, addresses: [], ttl: null, extended: null };
  let at = 12;
  if (questions === 1) at = nameEnd(message, at) + 4;
  for (let record = 0; record < (answers ?? 0); record++, at += 16) {
    answer.ttl = message.readUInt32BE(at + 6);
    answer.addresses.push([...message.subarray(at + 12, at + 16)].join('.'));
  }
  if (options === 1 && message.readUInt16BE(at + 9) > 0) {
    const option = message.subarray(at + 11);
    answer.extended = { code: option.readUInt16BE(4), text: option.subarray(6).toString() };
  }
  return answer;
}

export function nameEnd(message: Buffer, start: number): number {
  let at = start;
  while (at < message.length && message[at] !== 0) at += 1 + (message[at] ?? 0);
  return at + 1;
}

export function readName(message: Buffer, start: number): string {
  const labels: string[] = [];
  for (let at = start; at < message.length && message[at] !== 0; at += 1 + (message[at] ?? 0)) {
    labels.push(message.subarray(at + 1, at + 1 + (message[at] ?? 0)).toString());
  }
  return labels.join('.');
}

export function encodeName(name: string): Buffer {
  const labels = name
    .split('.')
    .map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

/** Numbers of two bytes each. */
export function numbers(...values: number[]): Buffer {
  return Buffer.from(values.flatMap((value) => [value >> 8, value & 255]));
}

/** A hello of TLS with these server names, and other extensions before them. */
export function hello(names: string[], ...extensions: Buffer[]): Buffer {
  return record(helloMessage(names, ...extensions));
}

export function helloMessage(names: string[], ...extensions: Buffer[]): Buffer {
  const list = Buffer.concat(
    names.map((name) => Buffer.concat([Buffer.from([0]), sized(2, Buffer.from(name))])),
  );
  const all = names.length > 0 ? [...extensions, extension(0, sized(2, list))] : extensions;
  const body = Buffer.concat([
    numbers(0x0303),
    Buffer.alloc(32, 7),
    sized(1, Buffer.alloc(32, 5)),
    sized(2, numbers(0x1301, 0x1302)),
    sized(1, Buffer.alloc(1)),
    sized(2, Buffer.concat(all)),
  ]);
  return Buffer.concat([Buffer.from([1]), sized(3, body)]);
}

export function extension(type: number, content: Buffer): Buffer {
  return Buffer.concat([numbers(type), sized(2, content)]);
}

/** A record of TLS with a part of a handshake. */
export function record(content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([22, 3, 1]), sized(2, content)]);
}

export function sized(bytes: number, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length.subarray(4 - bytes), content]);
}
