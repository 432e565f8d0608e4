/** Watches of files. While its sink has no room, the channel is not read: the kernel inside drops what is too much. */
import { z } from 'zod';
import type { AgentWatching, WatchRequest, WatchSink } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import { type AnswerSink, Exchange, type OpenChannel } from './exchange.ts';
import { ProtocolError, usualBounds } from './frames.ts';
import { emptyReply, parseReply, rows, unavailable } from './replies.ts';

const { itemBytes, itemChanges, startMs } = limits.watching;

const path = z.string().min(1).max(limits.pathBytes);
const change = z.union([
  z.object({ type: z.enum(['created', 'written', 'removed', 'attributes']), path, folder: z.boolean() }),
  z.object({ type: z.literal('renamed'), path, from: path, folder: z.boolean() }),
  z.object({ type: z.literal('overflow') }),
]);
const changes = rows(change, itemChanges);

export function watchingOf(openChannel: OpenChannel): AgentWatching {
  return { watchFiles: (id, request, sink, signal) => watch(openChannel, id, request, sink, signal) };
}

function watch(
  openChannel: OpenChannel,
  id: string,
  { user, path, recursive }: WatchRequest,
  watcher: WatchSink,
  signal?: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let isOpen = false;
    const sink: AnswerSink = {
      talks: true,
      itemBounds: { ...usualBounds, bytes: itemBytes },
      reply(json) {
        parseReply(emptyReply, json);
        exchange.relax();
        isOpen = true;
        watcher.begun();
        return true;
      },
      item(json) {
        const seen = parseReply(changes, json);
        if (!isOpen) throw new ProtocolError('changes before the reply');
        const room = watcher.changed(seen);
        if (room) exchange.pauseUntil(room);
      },
      data() {
        throw new ProtocolError('data on a watch');
      },
      done: resolve,
      failed: reject,
    };
    const exchange = new Exchange(sink, signal);
    exchange.expect(startMs, () => unavailable("The sandbox's agent does not answer."));
    void exchange
      .open(openChannel, id)
      .then(() => exchange.send({ op: 'watch_files', user, path, recursive }));
  });
}
