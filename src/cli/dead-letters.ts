import { WeirError } from '../errors.ts';
import type { DeadLetter } from '../ports/rule-store.ts';
import type { Store } from '../ports/store.ts';
import type { Stream } from '../ports/stream.ts';
import type { AddCommand } from './command.ts';
import { isoTime, table } from './context.ts';
import { publish } from './publish.ts';

/** Dead letters that `ls` shows at most: the newest. */
const SHOWN = 1000;

export function deadLetterCommands(add: AddCommand): void {
  add('dead-letter ls', 'list the messages that could not be landed, with the reason', (c) => c, {
    async run(context) {
      const letters = await (await context.reads()).deadLetters(SHOWN);
      return letters.map(({ id, at, reason, streamId, partition, offset, timestamp, key, headers, value }) => ({
        id,
        at: isoTime(at),
        reason,
        stream_id: streamId,
        partition,
        offset,
        timestamp: isoTime(timestamp),
        key,
        headers,
        value,
      }));
    },
    show: (rows) =>
      table(
        ['ID', 'AT', 'REASON', 'VALUE'],
        rows.map((row) => [row.id, row.at, row.reason, row.value.slice(0, 80)]),
      ),
  });
  add('dead-letter replay <id...>', 'append messages to the end of the stream again, as received at their first time', (c) => c, {
    async run(context, ids) {
      const store = await context.store();
      const letters = await findLetters(store, ids);
      const stream = await context.stream();
      await publish(
        context,
        stream,
        letters.map(({ key, headers, value, timestamp }) => ({
          key,
          headers: { ...headers, received_at: headers.received_at ?? new Date(timestamp).toISOString() },
          value,
        })),
        'the dead letters are as they were',
      );
      for (const { id } of letters) await store.dropDeadLetter(id);
      return letters.map(({ id }) => ({ id, replayed: true }));
    },
    show: (rows) => `${rows.length} replayed`,
  });
  add('dead-letter drop <id...>', 'delete dead letters', (c) => c, {
    async run(context, ids) {
      const store = await context.store();
      const letters = await findLetters(store, ids);
      for (const { id } of letters) await store.dropDeadLetter(id);
      return letters.map(({ id }) => ({ id, dropped: true }));
    },
    show: (rows) => `${rows.length} dropped`,
  });
  add('stream adopt', 'start over with the stream that is here now, when landing has stopped because the old one is gone', (c) => c, {
    async run(context) {
      const [stream, store] = [await context.stream(), await context.store()];
      const streamId = await stream.id();
      if (await hasLanded(stream, store))
        throw new WeirError('USAGE', `landing goes on with the stream ${streamId} as it is: there is nothing to adopt`);
      await store.adoptStream(streamId);
      return { stream_id: streamId, adopted: true };
    },
    show: (result) => `landing starts over with the stream ${result.stream_id}, from its beginning, within seconds`,
  });
}

/** Whether the store's positions are those of this stream, so that landing goes on from them. */
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

/** The dead letters of these ids, each once; all of them or a fault. */
async function findLetters(store: Store, ids: readonly string[]): Promise<DeadLetter[]> {
  const letters: DeadLetter[] = [];
  for (const id of new Set(ids)) {
    const letter = /^\d{1,15}$/.test(id) ? await store.deadLetter(Number(id)) : undefined;
    if (letter === undefined) throw new WeirError('USAGE', `there is no dead letter "${id}"`);
    letters.push(letter);
  }
  return letters;
}
