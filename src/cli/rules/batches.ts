/** `weir batch` and `weir undo` (SPEC D9). */
import { WeirError } from '../../errors.ts';
import { type batchJson, effectText } from '../../manage/batches.ts';
import type { notedBlocks } from '../../manage/rules/noted-blocks.ts';
import { RULE_RETENTION } from '../../ports/stored/account-store.ts';
import type { UndoPreview } from '../../ports/stored/rule-store.ts';
import { plural } from '../../text/count.ts';
import { inWords } from '../../text/duration.ts';
import type { Client } from '../client/client.ts';
import { namesOf } from '../client/names.ts';
import { confirm } from '../confirm.ts';
import { printable } from '../context.ts';
import { type AnyRow, type Call, row } from '../rows/row.ts';
import { wholeNumber } from '../usage.ts';
import { SINCE_RULE, sinceOf, waiting } from './selection.ts';

type Batch = ReturnType<typeof batchJson>;
type Named = Batch & { readonly list_name: string | null };
type Noted = Awaited<ReturnType<typeof notedBlocks>>;
type Effect = Named &
  Noted & {
    readonly undo: UndoPreview;
    readonly not_undoable?: string;
  };

async function named<B extends Batch>(client: Client, batches: readonly B[]): Promise<(B & Named)[]> {
  const names = await namesOf(client);
  return batches.map((batch) => ({ ...batch, list_name: names.get(batch.list_id ?? '') ?? null }));
}

export const BATCH_ROWS: readonly AnyRow[] = [
  row<Named[]>({
    words: 'batch ls',
    operation: 'listBatches',
    summary: `list the batches of signals that have landed in the last ${inWords(RULE_RETENTION)}, newest first`,
    flags: { '--limit <number>': 'how many (default: 20)', '--before <batch>': 'those before this one' },
    run: async ({ client, options: { limit = '20', before } }) =>
      named(client, await client.items<Batch>('listBatches', { after: before }, wholeNumber('--limit', 1, 10_000)(limit))),
    columns: {
      ID: 'id',
      RECEIVED: 'received_at',
      WHAT: 'what',
      ENTRIES: 'entries',
      LIST: listText,
      'SENT BY': (batch) => [batch.key_name ?? batch.key_id, batch.actor].filter(Boolean).join(', ') || null,
      UNDOES: 'undoes',
      'UNDONE BY': 'undone_by',
      UNDO: (batch) => (batch.undoable ? null : 'no longer'),
    },
  }),
  row<Effect>({
    words: 'batch show <batch>',
    operation: 'getBatch',
    summary: 'show what a batch did, and what undoing it would do now',
    json: async (batch, { client }) => (await named(client, [batch]))[0]!,
    show: ({ undo, warned, repeated, not_undoable: why, ...batch }) =>
      [
        ...Object.entries(batch).map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value ?? '-'}`),
        ...noted('reported by guard rails', warned),
        ...noted('longer than sent', repeated),
        why ?? `undo ${effectLines(undo)}`,
      ].join('\n'),
  }),
  row<Undone | Undone[]>({
    words: 'undo [batches...]',
    operation: 'undoBatches',
    summary: 'restore what batches replaced or deleted, and remove what they made; the newest first',
    flags: {
      '--key <key>': 'the batches that this key has sent, by its id or name; needs --since',
      '--since <time>': `the batches accepted since: ${SINCE_RULE}`,
      '--yes': 'do it without asking',
    },
    run: undo,
    show(undone) {
      const all = [undone].flat();
      const lines = all.map(({ undone: id, batch_id, ...effect }) =>
        batch_id === null ? `${id} was undone by somebody else meanwhile` : `${id} is undone by ${batch_id}: ${effectLines(effect)}`,
      );
      return `${lines.join('\n')}${waiting(all[0]!)}`;
    },
  }),
];

const noted = (label: string, { rules, first }: Noted[keyof Noted]) =>
  rules === 0 ? [] : [`${label}: ${plural(rules, 'block', 'blocks')}`, ...first.map(({ target, why }) => `  ${target} ${why}`)];

interface Undone extends UndoPreview {
  readonly undone: string;
  /** null: another undo was first. */
  readonly batch_id: string | null;
  readonly unlanded: number;
}

interface Answer {
  readonly undone: readonly (UndoPreview & { readonly batch: string; readonly undone_by: string | null })[];
  readonly unlanded: number;
}

/** Batches in a request. */
const MOST = 50;

async function undo({ client, context, given, options }: Call): Promise<Undone | Undone[]> {
  const batches = (given.batches ?? []) as readonly string[];
  if (batches.length > 0 === (options.since !== undefined))
    throw new WeirError('USAGE', 'say which batches: name them, or give --since, with --key for those of one key');
  const ids = batches.length > 0 ? batches : await batchesSince(client, options);
  const ask = async (preview: boolean) => {
    const answers: Answer[] = [];
    for (let at = 0; at < ids.length; at += MOST)
      answers.push(await client.call<Answer>('undoBatches', { batches: ids.slice(at, at + MOST), preview }));
    return answers;
  };
  const planned = (await ask(true)).flatMap(({ undone }) => undone);
  await confirm(context, planned.map(({ batch, ...effect }) => `undoing ${batch} ${effectLines(effect)}`).join('\n'), options.yes);
  const undone = (await ask(false)).flatMap((answer) =>
    answer.undone.map(({ batch, undone_by: by, ...effect }) => ({ undone: batch, ...effect, batch_id: by, unlanded: answer.unlanded })),
  );
  // A replacement consists of several batches.
  return batches.length === 1 && undone.length === 1 ? undone[0]! : undone;
}

/** Batches that can be undone; no undos. */
async function batchesSince(client: Client, { since, key }: { readonly since: string; readonly key?: string }): Promise<string[]> {
  const from = Date.parse(sinceOf(since));
  const keyId = key === undefined ? undefined : (await client.call<{ id: string }>('getKey', { key })).id;
  const found = (await client.items<Batch>('listBatches')).filter(
    (batch) =>
      Date.parse(batch.received_at!) >= from &&
      (keyId === undefined || batch.key_id === keyId) &&
      batch.undoes === null &&
      batch.undone_by === null,
  );
  if (found.length === 0) throw new WeirError('REFUSED', 'there is nothing to undo: no batch that is not undone was accepted so');
  return found.map(({ id }) => id);
}

/** null: in no list, or the list is deleted. */
function listText({ list_name: name, list_id: id, lists, has_targets: has }: Named): string | null {
  const first = name ?? id;
  if (first === null) return null;
  return `${first}${lists > 1 ? ` +${lists - 1}` : ''}${has === null ? ' or none' : ''}`;
}

const effectLines = (effect: UndoPreview): string =>
  [effectText(effect), ...effect.sample.map((line) => `  ${printable(line)}`)].join('\n');
