/**
 * A DNS server for tests: `<address> <label>` as arguments. It answers by the first label of the name and prints
 * each question as JSON.
 */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

const [address = '', greeting = ''] = process.argv.slice(2);

interface Asked {
  name: string;
  type: number;
  question: Buffer;
  id: number;
}

function parse(message: Buffer): Asked {
  const labels = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.subarray(at + 1, at + 1 + length).toString());
    at += 1 + length;
  }
  return {
    name: labels.join('.'),
    type: message.readUInt16BE(at + 1),
    question: message.subarray(12, at + 5),
    id: message.readUInt16BE(0),
  };
}

const a = (ip: string) => record(1, Buffer.from(ip.split('.').map(Number)));
const txt = (text: string) => record(16, Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]));

/** Owned by the name asked for. */
function record(type: number, data: Buffer): Buffer {
  const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length]);
  return Buffer.concat([head, data]);
}

const zones: Record<string, Buffer[]> = {
  public: [a('198.51.100.2')],
  private: [a('10.1.2.3')],
  mixed: [a('198.51.100.2'), a('169.254.169.254')],
  // A name for a name: the owner is the alias, which matters to nobody here.
  alias: [
    record(5, Buffer.from([7, ...Buffer.from('private'), 4, ...Buffer.from('test'), 0])),
    a('192.168.1.1'),
  ],
  loopback: [a('127.0.0.1')],
  smuggled: [record(28, Buffer.from('fd000000000000000000000000000001', 'hex'))],
  greeting: [txt(greeting)],
  large: Array.from({ length: 20 }, (_, i) => txt(String(i).padEnd(200, '.'))),
  spoofed: [a('198.51.100.2')],
};

function answer({ name, question, id }: Asked, udp: boolean): Buffer {
  const records = zones[name.split('.')[0] ?? ''];
  const header = Buffer.alloc(12);
  const whole = Buffer.concat([question, ...(records ?? [])]);
  const truncated = udp && whole.length > 1_200;
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(0x8180 | (records ? 0 : 3) | (truncated ? 0x0200 : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(truncated ? 0 : (records ?? []).length, 6);
  return Buffer.concat([header, truncated ? question : whole]);
}

function note(asked: Asked, port: number | undefined, transport: string): void {
  console.log(JSON.stringify({ name: asked.name, type: asked.type, id: asked.id, port, transport }));
}

const udp = createSocket('udp4');
udp.on('message', (message, sender) => {
  const asked = parse(message);
  note(asked, sender.port, 'udp');
  if (asked.name.startsWith('silent')) return;
  if (asked.name.startsWith('spoofed')) {
    const forged = answer({ ...asked, name: 'private.test', id: asked.id ^ 1 }, true);
    udp.send(forged, sender.port, sender.address);
  }
  udp.send(answer(asked, true), sender.port, sender.address);
});
udp.bind(53, address);

createServer((socket) => {
  socket.on('data', (chunk: Buffer) => {
    const asked = parse(chunk.subarray(2));
    note(asked, socket.remotePort, 'tcp');
    const reply = answer(asked, false);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(reply.length);
    // In pieces, as networks do.
    socket.write(length.subarray(0, 1));
    setTimeout(() => socket.write(Buffer.concat([length.subarray(1), reply])), 5);
  });
}).listen(53, address, () => console.log('{}'));
