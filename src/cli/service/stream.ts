import { WeirError } from '../../errors.ts';
import type { Store } from '../../ports/store.ts';
import type { Stream } from '../../ports/stream.ts';
import { endsOf, isBlank } from '../../runtime/lost-store.ts';
import type { AddCommand } from '../command.ts';
import { confirm } from '../confirm.ts';

const RESTORE = 'weir restore puts a backup back instead';

export function streamCommands(add: AddCommand): void {
  const about = 'start over with the current stream, when landing has stopped because the old one is lost';
  add('stream adopt', about, (c) => c.option('--yes', 'do it without asking'), {
    async run(context, _args, { yes }) {
      const [stream, store] = [await context.stream(), await context.store(true)];
      const streamId = await stream.id();
      const ends = await endsOf(stream);
      if (ends.size > 0 && (await isBlank(store))) {
        // The workspaces of its messages no longer exist: all would become dead letters.
        await confirm(context, `the store starts again: the messages in the stream ${streamId} never land; ${RESTORE}`, yes);
        await store.adoptStream(streamId, ends, context.author);
        return { stream_id: streamId, adopted: true, anew: true };
      }
      if (await hasLanded(stream, store))
        throw new WeirError('USAGE', `landing continues with the stream ${streamId} as it is: there is nothing to adopt`);
      await confirm(
        context,
        `landing starts over with the stream ${streamId}: messages of the old stream that have not landed are lost, and this one lands from its beginning; ${RESTORE}`,
        yes,
      );
      await store.adoptStream(streamId, undefined, context.author);
      return { stream_id: streamId, adopted: true, anew: false };
    },
    show: ({ stream_id, anew }) =>
      anew
        ? `the store starts again: it ignores the messages in the stream ${stream_id}, and lands new ones`
        : `landing starts over with the stream ${stream_id}, from its beginning, within seconds`,
  });
}

/** Whether the store's positions belong to this stream. */
async function hasLanded(stream: Stream, store: Store): Promise<boolean> {
  const streamId = await stream.id();
  if (!(await store.positionStreams()).includes(streamId)) return false;
  for (let partition = 0; partition < (await stream.partitions()); partition += 1) {
    const position = await store.position(streamId, partition);
    const { start, end } = await stream.bounds(partition);
    if (position !== undefined && (position < start || position > end)) return false;
  }
  return true;
}
