/** `weir send --replace`: the rules of a list become those of a file. */
import { keyParts } from '../account/key.ts';
import type { AccessList } from '../account/list.ts';
import { WeirError } from '../errors.ts';
import { entrySignals, type LineFault, type PlacedEntry } from '../manage/plain-lists/content.ts';
import type { ListAction } from '../manage/plain-lists/entry.ts';
import { type PresentRules, presentRules, removals, wantedRules } from '../manage/plain-lists/replace.ts';
import type { StoreReads } from '../ports/store.ts';
import type { Context } from './context.ts';
import { untilLanded } from './landed.ts';
import { type Destination, type Sender, sayExpired } from './sender.ts';
import { pick } from './usage.ts';

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
  entries: AsyncIterable<PlacedEntry | LineFault>,
  { key, list: name, action, isSure }: Replacement,
): Promise<void> {
  const all = await Array.fromAsync(entries);
  const found = all.flatMap((each) => ('entry' in each ? [each.entry] : []));
  if (action === 'unblock' || found.some((entry) => entry.action === 'unblock')) {
    throw new WeirError('USAGE', 'with --replace a file holds the rules that the list shall have, and unblock is none');
  }
  const wanted = wantedRules(found, Date.now());
  const { list, present } = await rulesOf(context, key, name, new Set([action, ...found.map((entry) => entry.action)]));
  if (!isSure && wanted.size * 2 < present.byValue.size) {
    throw new WeirError(
      'USAGE',
      `the list "${list.name}" has ${present.byValue.size} rules and the file ${wanted.size}: when that is meant, say so with --yes`,
    );
  }
  await sender.send(entrySignals(each(all), sayExpired(sender)));
  if (sender.failed() > 0) {
    sender.say('nothing was removed from the list, because entries of the file failed');
    return;
  }
  const gone = removals(present, wanted);
  await sender.send(each(gone));
  sender.say(`${gone.length} rules of the list "${list.name}" were not in the file and are removed`);
  const refs = new Set(found.map((entry) => entry.ruleRef));
  const staying = [...present.byRef.values()].flat().filter(({ ruleRef }) => !refs.has(ruleRef ?? undefined)).length;
  if (staying > 0) sender.say(`${staying} rules with a rule_ref stay as they are`);
}

/** The list that a key writes to with its active rules, all that was accepted before included. */
async function rulesOf(
  context: Context,
  key: string,
  name: string | undefined,
  actions: ReadonlySet<string>,
): Promise<{ readonly list: AccessList; readonly present: PresentRules }> {
  const store = await context.reads();
  const caller = await store.findCaller(keyParts(key).hash);
  if (caller === undefined) {
    throw new WeirError('USAGE', 'the store does not know the key: --replace needs the settings of the server, such as DATA_DIR');
  }
  const left = await untilLanded(context, await context.stream(), store);
  if (left > 0) throw new WeirError('USAGE', `${left} messages of the stream have not landed: run weir with the role consumer first`);
  const list = await listOf(store, caller.workspaceId, caller.listId ?? name);
  return { list, present: await presentRules(store, caller.workspaceId, { listId: list.id, actions, now: Date.now() }) };
}

async function listOf(store: StoreReads, workspaceId: string, name: string | undefined): Promise<AccessList> {
  const { lists } = (await store.directory(workspaceId))!;
  return name === undefined ? lists.find(({ isDefault }) => isDefault)! : pick(lists, name, 'list');
}

async function* each<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}
