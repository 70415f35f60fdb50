/** `weir batch` and `weir undo`. */

import { batchJson, effectText, GIVEN_UP, knownBatch, planUndo, previewJson, undoBatches } from '../../manage/batches.ts';
import type { Operated } from '../../manage/operate.ts';
import type { UndoPreview } from '../../ports/rule-store.ts';
import type { AddCommand } from '../command.ts';
import { confirm } from '../confirm.ts';
import { printable, table, workspaceId } from '../context.ts';
import { inWorkspace, pick, wholeNumber } from '../usage.ts';
import { asOperator, rulePorts, waiting } from './rule-operations.ts';

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
          ['ID', 'RECEIVED', 'ENTRIES', 'LIST', 'KEY', 'UNDOES', 'UNDONE BY', 'UNDO'],
          rows.map((b) => [b.id, b.received_at, b.entries, b.list_id, b.key_id, b.undoes, b.undone_by, b.undoable ? null : 'no longer']),
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
      [
        ...Object.entries(batch).map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value ?? '-'}`),
        batch.undoable ? `undo ${effectLines(undo)}` : GIVEN_UP,
      ].join('\n'),
  });
  add(
    'undo <batches...>',
    'put back what batches replaced or deleted, and remove what they made; the newest first',
    (c) => inWorkspace(c).option('--yes', 'do it without asking'),
    {
      async run(context, ids, options) {
        const ports = await rulePorts(context, 'nothing has changed');
        await ports.untilLanded();
        const workspace = pick(await ports.reads.workspaces(), options.workspace, 'workspace');
        const planned = await planUndo(ports.reads, workspace.id, ids);
        const question = planned.map(({ batch, preview }) => `undoing ${batch.id} ${effectLines(preview)}`).join('\n');
        await confirm(context, question, options.yes);
        const { batches, unlanded } = await undoBatches(ports, asOperator(workspace), planned);
        const undone = planned.map(({ batch, preview }, i) => ({
          undone: batch.id,
          ...previewJson(preview),
          batch_id: batches[i],
          unlanded,
        }));
        return ids.length === 1 ? undone[0] : undone;
      },
      show(undone) {
        const all = [undone].flat();
        const lines = all.map(({ undone: id, batch_id, ...effect }) =>
          batch_id === null ? `${id} was undone by somebody else meanwhile` : `${id} is undone by ${batch_id}: ${effectLines(effect)}`,
        );
        return `${lines.join('\n')}${waiting(all[0])}`;
      },
    },
  );
}

/** What a command did, as JSON. */
export const operatedJson = ({ batches, unlanded }: Operated) => ({ batch_id: batches[0], unlanded });

const effectLines = (effect: UndoPreview): string =>
  [effectText(effect), ...effect.sample.map((line) => `  ${printable(line)}`)].join('\n');
