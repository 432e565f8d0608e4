/** Joins one forwarded connection: a client's channel and a connection inside, each direction ended by itself. */
import type { Duplex } from 'node:stream';
import type { Connection, ServerChannel } from 'ssh2';
import { limits } from '../../../model/limits.ts';
import { ChannelWriter } from './channel-writer.ts';
import { feed, pour } from './pour.ts';
import { boundInput, sendEof, whenClosed } from './ssh2-gaps.ts';

/** Resolves when the channel is closed. */
export async function tunnel(
  channel: ServerChannel,
  inside: Duplex,
  client: { connection: Connection; stream: Duplex; gone: Promise<void> },
): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    whenClosed(channel, resolve);
    void client.gone.then(resolve);
  });
  const writer = new ChannelWriter(channel, client.stream, closed);
  boundInput(channel, client.connection);
  channel.on('error', () => {});
  const uploaded = new Promise<void>((resolve) => {
    channel.once('end', resolve);
    inside.once('close', resolve);
  });
  feed(channel, inside);
  const downloaded = pour(inside, (chunk) => writer.out(chunk)).then(
    () => sendEof(channel),
    // A broken connection is no clean end: the client sees the channel close at once.
    () => channel.close(),
  );
  void Promise.all([uploaded, downloaded]).then(() => channel.close());
  await closed;
  // Bytes that the client sent earlier are still delivered.
  if (inside.writableFinished) inside.destroy();
  else {
    const timer = setTimeout(() => inside.destroy(), limits.ssh.lastBytesMs);
    inside.once('finish', () => inside.destroy());
    inside.once('close', () => clearTimeout(timer));
  }
}
