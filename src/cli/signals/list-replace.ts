/** `weir send --replace`: the rules of a list become those of a file. */
import { keyParts } from '../../account/key.ts';
import type { AccessList } from '../../account/list.ts';
import { WeirError } from '../../errors.ts';
import { notSure, planReplacement } from '../../manage/plain-lists/replace.ts';
import type { StoreReads } from '../../ports/store.ts';
import { entrySignals, type PassedRow, type PlacedEntry } from '../../source/readers/content.ts';
import type { ListAction } from '../../source/readers/entry.ts';
import type { LineFault } from '../../source/readers/items.ts';
import type { Context } from '../context.ts';
import { untilLanded } from '../landed.ts';
import { pick } from '../usage.ts';
import { type Destination, type Sender, sayLeftOut } from './sender.ts';

interface Replacement extends Destination {
  /** The action of what the command line says of all entries. */
  readonly action: ListAction;
  /** Whether the list may lose more than half of its rules. */
  readonly isSure: boolean | undefined;
}

/**
 * Sends the entries, then removes those rules of the list that have no entry. It concerns the rules that are known by their value, of the
 * actions that the file has; rules with a `rule_ref` stay. Nothing is removed when an entry failed. The rules that are there are read
 * from the store, because a feed shows them merged. Rejects with USAGE when more than half of them would go and nobody is sure.
 */
export async function replaceList(
  context: Context,
  sender: Sender,
  entries: AsyncIterable<PlacedEntry | LineFault | PassedRow>,
  { key, list: name, action, isSure }: Replacement,
): Promise<void> {
  const all = await Array.fromAsync(entries);
  const found = all.flatMap((each) => ('entry' in each ? [each.entry] : []));
  const { reads, workspaceId, list } = await listOf(context, key, name);
  const plan = await planReplacement(reads, workspaceId, { listId: list.id, entries: found, action, now: Date.now() });
  if (plan.isLarge && !isSure) throw new WeirError('USAGE', notSure(list.name, plan, '--yes'));
  await sender.send(entrySignals(each(all), sayLeftOut(sender)));
  if (sender.failed() > 0) {
    sender.say('nothing was removed from the list, because entries of the file failed');
    return;
  }
  await sender.send(each(plan.removals));
  sender.say(`${plan.removals.length} rules of the list "${list.name}" were not in the file and are removed`);
  if (plan.staying > 0) sender.say(`${plan.staying} rules with a rule_ref stay as they are`);
}

/** The list that a key writes to, in a store where all that was accepted before has landed. */
async function listOf(
  context: Context,
  key: string,
  name: string | undefined,
): Promise<{ readonly reads: StoreReads; readonly workspaceId: string; readonly list: AccessList }> {
  const reads = await context.reads();
  const caller = await reads.findCaller(keyParts(key).hash);
  if (caller === undefined) {
    throw new WeirError('USAGE', 'the store does not know the key: --replace needs the settings of the server, such as DATA_DIR');
  }
  const left = await untilLanded(context, await context.stream(), reads);
  if (left > 0) throw new WeirError('USAGE', `${left} messages of the stream have not landed: run weir with the role consumer first`);
  const { workspaceId, listId } = caller;
  const { lists } = (await reads.directory(workspaceId))!;
  const ref = listId ?? name;
  return { reads, workspaceId, list: ref === undefined ? lists.find(({ isDefault }) => isDefault)! : pick(lists, ref, 'list') };
}

async function* each<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}
