/** `weir batch` and `weir undo`. */

import type { Command } from 'commander';
import { WeirError } from '../../errors.ts';
import { batchJson, effectText, knownBatch, notUndoable, planUndo, previewJson, undoBatches } from '../../manage/batches.ts';
import { findKeyNamed } from '../../manage/find.ts';
import type { Operated } from '../../manage/operate.ts';
import { type Names, namesIn } from '../../manage/rules/rule-json.ts';
import type { StoreReads } from '../../ports/store.ts';
import { RULES_KEPT } from '../../ports/stored/account-store.ts';
import type { BatchInfo, UndoPreview } from '../../ports/stored/rule-store.ts';
import { inWords } from '../../text/duration.ts';
import type { AddCommand } from '../command.ts';
import { confirm } from '../confirm.ts';
import { printable, readsIn, table, workspaceIn } from '../context.ts';
import { inWorkspace, wholeNumber } from '../usage.ts';
import { sinceOf } from './conditions.ts';
import { asOperator, noting, rulePorts, waiting } from './rule-operations.ts';

const batchLsOptions = (c: Command): Command =>
  inWorkspace(c)
    .option('--limit <count>', 'how many', wholeNumber('--limit', 1, 10_000), 20)
    .option('--before <batch>', 'those behind this one');

const undoOptions = (c: Command): Command =>
  inWorkspace(c)
    .option('--key <key>', 'the batches that this key has sent, by its id or name; needs --since')
    .option('--since <time>', 'the batches accepted since: an instant such as 2026-11-22T08:00:00Z, or how long ago, such as 2h', sinceOf)
    .option('--yes', 'do it without asking');

export function batchCommands(add: AddCommand): void {
  add('batch ls', `list the batches of signals that have landed in the last ${inWords(RULES_KEPT)}, newest first`, batchLsOptions, {
    async run(context, _args, { workspace, limit, before }) {
      const { store, workspace: id } = await readsIn(context, workspace);
      const names = await namesIn(store, id);
      return (await store.batches(id, { limit, before })).map((batch) => namedBatch(batch, names));
    },
    show: (rows) =>
      table(['ID', 'RECEIVED', 'ENTRIES', 'LIST', 'SENT BY', 'UNDOES', 'UNDONE BY', 'UNDO'], rows, (b) => [
        b.id,
        b.received_at,
        b.entries,
        listText(b),
        [b.key_name ?? b.key_id, b.actor && b.actor].filter(Boolean).join(', ') || null,
        b.undoes,
        b.undone_by,
        b.undoable ? null : 'no longer',
      ]),
  });
  add('batch show <batch>', 'what a batch did, and what undoing it would do now', inWorkspace, {
    async run(context, [id], options) {
      const { store, workspace } = await readsIn(context, options.workspace);
      const batch = await knownBatch(store, workspace, id);
      const named = namedBatch(batch, await namesIn(store, workspace));
      const why = batch.undoable ? {} : { not_undoable: notUndoable(batch) };
      return { ...named, ...why, undo: previewJson(await store.undoPreview(workspace, batch.id)) };
    },
    show: ({ undo, not_undoable: why, ...batch }) =>
      [
        ...Object.entries(batch).map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value ?? '-'}`),
        why ?? `undo ${effectLines(undo)}`,
      ].join('\n'),
  });
  add('undo [batches...]', 'put back what batches replaced or deleted, and remove what they made; the newest first', undoOptions, {
    async run(context, given, options) {
      if (given.length > 0 === (options.since !== undefined))
        throw new WeirError('USAGE', 'say which batches: name them, or give --since, with --key for those of one key');
      const ports = await rulePorts(context, 'nothing has changed');
      await ports.untilLanded();
      const workspace = await workspaceIn(context, ports.reads, options.workspace);
      const ids = given.length > 0 ? given : await batchesSince(ports.reads, workspace.id, options);
      const planned = await planUndo(ports.reads, workspace.id, ids);
      const question = planned.map(({ batch, preview }) => `undoing ${batch.id} ${effectLines(preview)}`).join('\n');
      await confirm(context, question, options.yes);
      const note = await noting(context, workspace);
      const { batches, unlanded } = await undoBatches(ports, asOperator(workspace), planned);
      const undoes = planned.filter((_, i) => batches[i] !== null).map(({ batch }) => batch.id);
      await note('batches undone', batches, { undoes });
      const undone = planned.map(({ batch, preview }, i) => ({
        undone: batch.id,
        ...previewJson(preview),
        batch_id: batches[i],
        unlanded,
      }));
      // The id of a replacement stands for several batches.
      return given.length === 1 && undone.length === 1 ? undone[0] : undone;
    },
    show(undone) {
      const all = [undone].flat();
      const lines = all.map(({ undone: id, batch_id, ...effect }) =>
        batch_id === null ? `${id} was undone by somebody else meanwhile` : `${id} is undone by ${batch_id}: ${effectLines(effect)}`,
      );
      return `${lines.join('\n')}${waiting(all[0])}`;
    },
  });
}

/** Batches that one read asks for. */
const PAGE = 1000;

/** The batches that were accepted since an instant (ms), by one key where it is named, and that are not undone; no undos. */
async function batchesSince(
  store: StoreReads,
  workspace: string,
  { since, key }: { readonly since: number; readonly key?: string },
): Promise<string[]> {
  const keyId = key === undefined ? undefined : (await findKeyNamed(store, workspace, key)).id;
  const found: string[] = [];
  for (let before: string | undefined; ; ) {
    const page: BatchInfo[] = await store.batches(workspace, { limit: PAGE, ...(before !== undefined && { before }) });
    for (const batch of page) {
      const isMeant = batch.receivedAt >= since && (keyId === undefined || batch.keyId === keyId);
      if (isMeant && batch.undoes === null && batch.undoneBy === null) found.push(batch.id);
    }
    if (page.length < PAGE) break;
    before = page.at(-1)!.id;
  }
  if (found.length === 0) throw new WeirError('REFUSED', 'there is nothing to undo: no batch that is not undone was accepted so');
  return found;
}

const namedBatch = (batch: BatchInfo, { lists, keys }: Names) => ({
  ...batchJson(batch, keys),
  list_name: lists.get(batch.listId ?? '') ?? null,
});

/** Where the rules of a batch are; null: in no list, or in one that is gone. */
function listText({ list_name: name, list_id: id, lists, has_targets: has }: ReturnType<typeof namedBatch>): string | null {
  const first = name ?? id;
  if (first === null) return null;
  return `${first}${lists > 1 ? ` +${lists - 1}` : ''}${has === null ? ' or none' : ''}`;
}

/** What a command did, as JSON. */
export const operatedJson = ({ batches, unlanded }: Operated) => ({ batch_id: batches[0], unlanded });

const effectLines = (effect: UndoPreview): string =>
  [effectText(effect), ...effect.sample.map((line) => `  ${printable(line)}`)].join('\n');
