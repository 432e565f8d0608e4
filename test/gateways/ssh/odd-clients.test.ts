/** Clients that do what OpenSSH does not, and what the SSH library would not stand by itself. */
import { once } from 'node:events';
import ssh2, { type Client, type ClientChannel } from 'ssh2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { must, type Service, startService } from '../../support/service.ts';
import { type Access, accessTo, eventually, inside, makeSandbox, SshClient } from './client.ts';

const CHANNELS_PER_CONNECTION = 64;
const CONNECTIONS_PER_SANDBOX = 24;
const KEEPALIVE_MS = 15_000;
const KEEPALIVES = 3;

let service: Service;
let sandbox: string;
let access: Access;
const clients: Client[] = [];

beforeAll(async () => {
  service = await startService();
  sandbox = await makeSandbox(service);
  access = await accessTo(service, sandbox);
}, 120_000);

afterAll(async () => {
  for (const client of clients) client.destroy();
  await service?.stop();
}, 60_000);

describe('a client', () => {
  it('gets an answer when it asks a running program for something unknown', async () => {
    const client = await login();
    const channel = await exec(client, 'sleep 1000');
    const { _protocol: protocol } = client as unknown as Insides;
    const answer = new Promise((resolve) => {
      protocol._handlers.CHANNEL_FAILURE = () => resolve('failure');
    });
    // As PuTTY does to measure the way.
    sendRequest(client, channel, 'winadj@putty.projects.tartarus.org');
    expect(await answer).toBe('failure');
    client.end();
  });

  it('can send signals after it has ended its input', async () => {
    const client = await login();
    const channel = await exec(
      client,
      'trap "echo caught; exit 4" USR1; echo ready; while :; do sleep 0.1; done',
    );
    let said = '';
    channel.on('data', (chunk: Buffer) => {
      said += chunk;
    });
    (channel as unknown as { eof(): void }).eof();
    await eventually('it is ready', () => said.includes('ready'));
    // ssh2's own client sends none any more.
    sendRequest(client, channel, 'signal', Buffer.from('\0\0\0\x04USR1'));
    const [code] = await once(channel, 'exit');
    expect({ code, said }).toEqual({ code: 4, said: 'ready\ncaught\n' });
    client.end();
  });

  it('is disconnected when it sends more than its window, and fills no memory', async () => {
    const client = await login();
    const channel = await exec(client, 'sleep 1000');
    const closed = once(client, 'close');
    const { _protocol: protocol } = client as unknown as Insides;
    const { outgoing } = channel as unknown as { outgoing: { id: number } };
    const chunk = Buffer.alloc(32_000);
    let sent = 0;
    client.on('error', () => {});
    let open = true;
    client.once('close', () => {
      open = false;
    });
    while (open && sent < 200e6) {
      protocol.channelData(outgoing.id, chunk);
      sent += chunk.length;
      if (sent % 3_200_000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await closed;
    expect(sent).toBeLessThan(200e6);
    expect(await must(service, 'RunCommand', { sandbox, command: 'echo fine' })).toMatchObject({
      stdout: 'fine\n',
    });
  }, 60_000);

  it('is refused channels, with the reason, when it opens too many', async () => {
    const client = await login();
    const outcomes = await Promise.allSettled(
      Array.from({ length: CHANNELS_PER_CONNECTION + 10 }, () => exec(client, 'sleep 1000')),
    );
    const refused = outcomes.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(refused).toHaveLength(10);
    for (const { reason } of refused) expect(String(reason)).toContain('too many channels');
    client.end();
    await eventually(
      'they have ended',
      async () => (await inside(service, sandbox, 'pgrep -fc "^sleep 1000"; true')) === '0\n',
    );
  }, 60_000);

  it('does not get in when it changes its user name or uses an unknown method', async () => {
    const client = new ssh2.Client();
    clients.push(client);
    const failed = once(client, 'error');
    client.connect({
      host: access.host,
      port: access.port,
      username: sandbox,
      tryKeyboard: true,
      privateKey: ssh2.utils.generateKeyPairSync('ed25519').private,
    });
    expect(String(await failed)).toContain('authentication methods failed');
  });
});

describe('connections to one sandbox', () => {
  it('are bounded, and the one too many gets the reason', async () => {
    const held = await Promise.all(Array.from({ length: CONNECTIONS_PER_SANDBOX }, () => login()));
    using openssh = new SshClient();
    const ran = await openssh.ssh(access, ['true']);
    expect(ran.code).toBe(255);
    expect(ran.stderr).toContain('SSH connections to the sandbox are open');
    for (const client of held) client.end();
    await eventually('there is room again', async () => (await openssh.ssh(access, ['true'])).code === 0);
  }, 90_000);
});

describe('a client that does not answer any more', () => {
  it('counts as gone, and its programs end', async () => {
    using openssh = new SshClient();
    const child = openssh.start('ssh', openssh.arguments(access, [], ['echo running; sleep 7777']));
    let said = '';
    child.stdout?.on('data', (chunk) => {
      said += chunk;
    });
    await eventually('the program runs', () => said !== '');
    child.kill('SIGSTOP');
    const patience = KEEPALIVE_MS * (KEEPALIVES + 1);
    await new Promise((resolve) => setTimeout(resolve, patience));
    await eventually('its program has ended', async () => {
      return (await inside(service, sandbox, 'pgrep -fc "^sleep 7777"; true')) === '0\n';
    });
    child.kill('SIGKILL');
  }, 180_000);
});

interface Insides {
  _protocol: {
    _handlers: { CHANNEL_FAILURE: () => void };
    channelData(channel: number, data: Buffer): void;
    _packetRW: {
      write: { allocStart: number; alloc(bytes: number): Buffer; finalize(packet: Buffer): Buffer };
    };
    _cipher: { encrypt(packet: Buffer): void };
  };
}

async function login(): Promise<Client> {
  const client = new ssh2.Client();
  clients.push(client);
  client.connect({ host: access.host, port: access.port, username: access.access_token });
  await once(client, 'ready');
  return client;
}

function exec(client: Client, command: string): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => (error ? reject(error) : resolve(channel)));
  });
}

/** SSH_MSG_CHANNEL_REQUEST, which wants a reply. */
function sendRequest(client: Client, channel: ClientChannel, type: string, payload = Buffer.alloc(0)): void {
  const { _packetRW, _cipher } = (client as unknown as Insides)._protocol;
  const { outgoing } = channel as unknown as { outgoing: { id: number } };
  const packet = _packetRW.write.alloc(1 + 4 + 4 + type.length + 1 + payload.length);
  let at = packet.writeUInt8(98, _packetRW.write.allocStart);
  at = packet.writeUInt32BE(outgoing.id, at);
  at = packet.writeUInt32BE(type.length, at);
  at += packet.write(type, at);
  at = packet.writeUInt8(1, at);
  payload.copy(packet, at);
  _cipher.encrypt(_packetRW.write.finalize(packet));
}
