import { isoTime } from '../clock.ts';
import { WeirError } from '../errors.ts';
import type { DeadLetter } from '../ports/rule-store.ts';
import type { Store } from '../ports/store.ts';
import { ACCEPTANCE } from '../signal/limits.ts';
import type { AddCommand } from './command.ts';
import { table } from './context.ts';
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
        letters.map((letter) => ({
          key: letter.key,
          headers: { ...letter.headers, received_at: letter.headers.received_at ?? isoTime(acceptedAt(letter))! },
          value: letter.value,
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
}

/** When a message was first accepted, ms: at its timestamp where that can be, else at the instant at which it became a dead letter. */
const acceptedAt = ({ timestamp, at }: DeadLetter): number => (timestamp >= ACCEPTANCE.first && timestamp < at ? timestamp : at);

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
