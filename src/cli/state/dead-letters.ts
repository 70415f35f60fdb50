import { approvalGate } from '../../manage/approvals/gate.ts';
import { deadLetterJson, dropLetters, findLetters, replayLetters } from '../../manage/dead-letters.ts';
import type { Message } from '../../ports/stream.ts';
import type { AddCommand } from '../command.ts';
import { table } from '../context.ts';
import { publish } from '../publish.ts';

/** The newest ones. */
const SHOWN = 1000;

export function deadLetterCommands(add: AddCommand): void {
  add('dead-letter ls', 'list the messages that could not be landed, with the reason', (c) => c, {
    async run(context) {
      return (await (await context.reads()).deadLetters(SHOWN)).map(deadLetterJson);
    },
    show: (rows) => table(['ID', 'AT', 'REASON', 'VALUE'], rows, (row) => [row.id, row.at, row.reason, row.value.slice(0, 80)]),
  });
  add('dead-letter replay <id...>', 'append messages to the end of the stream again, as received at their first time', (c) => c, {
    async run(context, ids) {
      const store = await context.store();
      const letters = await findLetters(store, ids);
      const stream = await context.stream();
      const gate = approvalGate({ store, now: Date.now });
      const send = async (messages: readonly Message[]) => {
        for (const own of Map.groupBy(messages, ({ key }) => key).values()) await gate.check([own]);
        await publish(context, stream, messages, 'the dead letters are as they were');
      };
      await replayLetters(store, send, letters, { by: context.author });
      return letters.map(({ id }) => ({ id, replayed: true }));
    },
    show: (rows) => `${rows.length} replayed`,
  });
  add('dead-letter drop <id...>', 'delete dead letters', (c) => c, {
    async run(context, ids) {
      const store = await context.store();
      const letters = await findLetters(store, ids);
      await dropLetters(store, letters, { by: context.author });
      return letters.map(({ id }) => ({ id, dropped: true }));
    },
    show: (rows) => `${rows.length} dropped`,
  });
}
