/** `weir batch` and `weir undo`. */
import { isoTime } from '../clock.ts';
import { WeirError } from '../errors.ts';
import type { BatchInfo, UndoPreview } from '../ports/rule-store.ts';
import type { StoreReads } from '../ports/store.ts';
import type { AddCommand } from './command.ts';
import { table, workspaceId } from './context.ts';
import { confirm, type Operated, operate, settledReads, waiting } from './operations.ts';
import { inWorkspace, pick, wholeNumber } from './usage.ts';

const batchJson = (batch: BatchInfo) => ({
  id: batch.id,
  list_id: batch.listId,
  key_id: batch.keyId,
  received_at: isoTime(batch.receivedAt),
  landed_at: isoTime(batch.landedAt),
  entries: batch.entries,
  undoes: batch.undoes,
  undone_by: batch.undoneBy,
});

const previewJson = ({ removes, restores, keeps, sample }: UndoPreview) => ({ removes, restores, keeps, sample });

export function batchCommands(add: AddCommand): void {
  add(
    'batch ls',
    'list the batches of signals that have landed in the last seven days, newest first',
    (c) =>
      inWorkspace(c)
        .option('--limit <count>', 'how many', wholeNumber('--limit', 1, 10_000), 20)
        .option('--before <batch>', 'those behind this one'),
    {
      async run(context, _args, { workspace, limit, before }) {
        const store = await context.reads();
        return (await store.batches(await workspaceId(store, workspace), { limit, before })).map(batchJson);
      },
      show: (rows) =>
        table(
          ['ID', 'RECEIVED', 'ENTRIES', 'LIST', 'KEY', 'UNDOES', 'UNDONE BY'],
          rows.map((b) => [b.id, b.received_at, b.entries, b.list_id, b.key_id, b.undoes, b.undone_by]),
        ),
    },
  );
  add('batch show <batch>', 'what a batch did, and what undoing it would do now', inWorkspace, {
    async run(context, [id], options) {
      const store = await context.reads();
      const workspace = await workspaceId(store, options.workspace);
      const batch = await knownBatch(store, workspace, id);
      return { ...batchJson(batch), undo: previewJson(await store.undoPreview(workspace, batch.id)) };
    },
    show: ({ undo, ...batch }) =>
      [...Object.entries(batch).map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value ?? '-'}`), `undo ${effectText(undo)}`].join(
        '\n',
      ),
  });
  add(
    'undo <batch>',
    'put back what a batch replaced or deleted, and remove what it made',
    (c) => inWorkspace(c).option('--yes', 'do it without asking'),
    {
      async run(context, [id], options) {
        const store = await settledReads(context);
        const workspace = pick(await store.workspaces(), options.workspace, 'workspace');
        const batch = await knownBatch(store, workspace.id, id);
        const preview = await store.undoPreview(workspace.id, batch.id);
        if (preview.removes + preview.restores === 0) {
          throw new WeirError('USAGE', `there is nothing to undo: ${effectText(previewJson(preview))}`);
        }
        await confirm(context, `undoing ${batch.id} ${effectText(previewJson(preview))}`, options.yes);
        const done = await operate(context, store, workspace, [{ operation: { change: 'undo', batchId: batch.id }, listId: batch.listId }]);
        return { undone: batch.id, ...previewJson(preview), ...operatedJson(done) };
      },
      show: ({ undone, batch_id, unlanded, ...effect }) =>
        `${undone} is undone by ${batch_id}: ${effectText(effect)}${waiting({ batches: [], unlanded })}`,
    },
  );
}

/** What a command did, as JSON. */
export const operatedJson = ({ batches, unlanded }: Operated) => ({ batch_id: batches[0], unlanded });

function effectText({ removes, restores, keeps, sample }: ReturnType<typeof previewJson>): string {
  const kept = keeps === 0 ? '' : `, leaves ${keeps} that changed since`;
  return [
    `removes ${removes} rules, puts back ${restores}${kept}`,
    ...sample.map((line) => `  ${line.replace(/[\p{Cc}\p{Cf}]/gu, ' ')}`),
  ].join('\n');
}

async function knownBatch(store: StoreReads, workspace: string, id: string): Promise<BatchInfo> {
  const batch = await store.batch(workspace, id);
  if (batch === undefined) throw new WeirError('USAGE', `there is no batch "${id}" of the last seven days; weir batch ls lists them`);
  return batch;
}
