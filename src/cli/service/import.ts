/** `weir import` (docs/moving.md). */

import { type Author, senderOf } from '../../account/caller.ts';
import type { SavedFeed } from '../../account/feed.ts';
import type { SavedKey } from '../../account/key.ts';
import type { SavedList } from '../../account/list.ts';
import type { SavedRepeat } from '../../account/repeat.ts';
import type { SavedSource } from '../../account/source-change.ts';
import type { Workspace, WorkspaceSettings } from '../../account/workspace.ts';
import { WeirError } from '../../errors.ts';
import type { Store } from '../../ports/store.ts';
import type { Message, Stream } from '../../ports/stream.ts';
import { readInChunks } from '../../schedule/chunks.ts';
import { encodeMessage } from '../../signal/message/encode.ts';
import { newBatchId, signalId } from '../../signal/message/signal-id.ts';
import { type PastSignal, ruleToSignals } from '../../signal/rule-to-signals.ts';
import type { AddCommand } from '../command.ts';
import { type Context, workspaceIn } from '../context.ts';
import { untilLanded } from '../landed.ts';
import { startProgress } from '../progress.ts';
import { publish } from '../publish.ts';
import { inWorkspace } from '../usage.ts';

import { type Counts, type Entry, fileSize, readEntries } from './workspace-file.ts';
import type { SavedRule } from './workspace-line.ts';

/** Limits of a published batch; characters approximately. */
const BATCH = { messages: 1000, characters: 4_000_000 };
const BROKE_OFF = 'the import broke off, docs/moving.md says how to go on';

interface ImportFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
}

interface Imported extends Readonly<Counts> {
  readonly workspace_id: string;
  /** Rules that have expired since the export, and are skipped. */
  readonly expired: number;
  /** Messages that wait for a consumer. */
  readonly unlanded: number;
  /** Ids in the file, and the new ids of lists whose id was in use. */
  readonly new_list_ids: Record<string, string>;
  readonly new_feed_ids: Record<string, string>;
  /** Sources whose secret is not in the file. */
  readonly missing_secrets: readonly string[];
  /** Existing keys, which stay unchanged. */
  readonly known_keys: readonly { id: string; prefix: string; name: string | null }[];
}

export function importCommand(add: AddCommand): void {
  add('import <file>', 'put a file of weir export into a workspace without rules', inWorkspace, {
    async run(context, [file], options): Promise<Imported> {
      const source = { path: file, size: await fileSize(file) };
      const store = await context.store();
      const workspace = await workspaceIn(context, store, options.workspace);
      if ((workspace.approval ?? 'none') !== 'none')
        throw new WeirError(
          'REFUSED',
          `changes of the workspace "${workspace.name}" need approval, and a file of weir export cannot wait for it: import it into a new workspace`,
        );
      const stream = await context.stream();
      await refuseRules(context, stream, store, workspace);
      const { settings, lists, feeds, sources, keys } = await checkFile(context, source);

      if (settings !== undefined) await store.updateWorkspace(workspace.id, settings, { by: context.author });
      const ids = await store.restoreLists(workspace.id, lists, feeds, context.author);
      const keyIds = await keyIdsOf(store, workspace.id, keys);
      const { rules, expired } = await publishRules(
        context,
        source,
        { stream, workspace, ids, keyIds, author: context.author },
        await store.ping(),
      );
      const unlanded = await untilLanded(context, stream, store);
      let repeats = 0;
      // Landing counted each block as the first. If nothing lands yet, the blocks renew these counts.
      for await (const some of readInChunks(repeatsOf(context, source, ids), BATCH.messages)) {
        await store.restoreRepeats(workspace.id, some);
        repeats += some.length;
      }
      // After the rules of their lists: refreshes are compared with them.
      await store.restoreSources(
        workspace.id,
        sources.map((each) => ({ ...each, listId: newId(ids, each.listId)! })),
        context.author,
      );
      // Last: a client must find a complete feed.
      const known = await store.restoreKeys(
        workspace.id,
        keys.map((key) => ({ ...key, listId: newId(ids, key.listId), feedId: newId(ids, key.feedId) })),
        context.author,
      );
      return {
        workspace_id: workspace.id,
        lists: lists.length,
        feeds: feeds.length,
        sources: sources.length,
        keys: keys.length - known.length,
        repeats,
        rules,
        expired,
        unlanded,
        new_list_ids: changedIds(lists, ids),
        new_feed_ids: changedIds(feeds, ids),
        missing_secrets: sources.filter(({ credential }) => credential !== null).map(({ listId }) => nameOf(lists, listId)),
        known_keys: keys.filter(({ id }) => known.includes(id)).map(({ id, prefix, name }) => ({ id, prefix, name })),
      };
    },
    show: report,
  });
}

async function* repeatsOf(context: Context, file: ImportFile, ids: ReadonlyMap<string, string>): AsyncGenerator<SavedRepeat> {
  for await (const entry of entriesOf(context, 'restoring', file)) {
    if ('rule' in entry) return;
    if ('repeat' in entry) yield { ...entry.repeat, listId: newId(ids, entry.repeat.listId)! };
  }
}

/** Existing keys, such as the first key, stay unchanged. */
async function keyIdsOf(store: Store, workspaceId: string, keys: readonly SavedKey[]): Promise<ReadonlyMap<string, string>> {
  const hex = ({ hash }: SavedKey) => Buffer.from(hash).toString('hex');
  const here = new Map((await store.savedKeys(workspaceId)).map((key) => [hex(key), key.id]));
  return new Map(keys.flatMap((key) => (here.has(hex(key)) ? [[key.id, here.get(hex(key))!] as const] : [])));
}

const nameOf = (lists: readonly SavedList[], id: string) => lists.find((list) => list.id === id)?.name ?? id;

const newId = (ids: ReadonlyMap<string, string>, id: string | null) => id && (ids.get(id) ?? id);

const changedIds = (items: readonly { readonly id: string }[], ids: ReadonlyMap<string, string>): Record<string, string> =>
  Object.fromEntries(items.map(({ id }) => [id, ids.get(id) ?? id] as const).filter(([before, after]) => before !== after));

function report({ expired, unlanded, ...done }: Imported): string {
  return [
    ...Object.entries(done.new_list_ids).map(([before, after]) => `list ${before} is ${after} here: another list has its id`),
    ...Object.entries(done.new_feed_ids).map(
      ([before, after]) => `feed ${before} is ${after} here: another feed has its id, or this one has its name`,
    ),
    ...done.known_keys.map(
      ({ id, prefix, name }) => `key ${id} (${prefix && `${prefix}…, `}${name ?? 'no name'}) is known here already and stays as it is`,
    ),
    ...done.missing_secrets.map(
      (name) =>
        `the secret of the source ${JSON.stringify(name)} is not in the file: give it with weir source set --auth, until then it fetches nothing`,
    ),
    ...(expired > 0 ? [`${expired} rules have expired since the export and are left out`] : []),
    ...(unlanded > 0 ? [`${unlanded} messages wait on the stream: the rules land when weir runs with the role consumer`] : []),
    `${done.lists} lists, ${done.feeds} feeds, ${done.sources} sources, ${done.keys} keys, ${done.rules} rules imported`,
  ].join('\n');
}

/** An import never mixes with existing or pending rules. */
async function refuseRules(context: Context, stream: Stream, store: Store, { id, name }: Workspace): Promise<void> {
  const left = await untilLanded(context, stream, store);
  if (left > 0) {
    throw new WeirError(
      'USAGE',
      `${left} messages of the stream have not landed and nothing lands them; some may be rules of the workspace "${name}": run weir with the role consumer first`,
    );
  }
  const rules = await store.countRules(id, 0);
  if (rules > 0) {
    throw new WeirError(
      'USAGE',
      `the workspace "${name}" has ${rules} rules, counting expired ones of the last days; import into a workspace without rules, such as a new one`,
    );
  }
}

/** Reads the whole file before anything is written. */
async function checkFile(
  context: Context,
  file: ImportFile,
): Promise<{ settings: WorkspaceSettings | undefined; lists: SavedList[]; feeds: SavedFeed[]; sources: SavedSource[]; keys: SavedKey[] }> {
  let settings: WorkspaceSettings | undefined;
  const lists: SavedList[] = [];
  const feeds: SavedFeed[] = [];
  const sources: SavedSource[] = [];
  const keys: SavedKey[] = [];
  for await (const entry of entriesOf(context, 'checking', file)) {
    if ('settings' in entry) settings = entry.settings;
    if ('list' in entry) lists.push(entry.list);
    if ('feed' in entry) feeds.push(entry.feed);
    if ('source' in entry) sources.push(entry.source);
    if ('key' in entry) keys.push(entry.key);
  }
  return { settings, lists, feeds, sources, keys };
}

interface Destination {
  readonly stream: Stream;
  readonly workspace: Workspace;
  readonly ids: ReadonlyMap<string, string>;
  /** Ids of existing keys by their id in the file. */
  readonly keyIds: ReadonlyMap<string, string>;
  /** Author of rules without one in the file. */
  readonly author: Author;
}

/** Publishes active rules as signals in the order of the file: only the consumer writes rules. */
async function publishRules(
  context: Context,
  file: ImportFile,
  destination: Destination,
  now: number,
): Promise<{ rules: number; expired: number }> {
  const counts = { rules: 0, expired: 0 };
  let batch: Message[] = [];
  let batchId = newBatchId(now);
  let characters = 0;
  const flush = async () => {
    await publish(context, destination.stream, batch, BROKE_OFF);
    batch = [];
    batchId = newBatchId(now);
    characters = 0;
  };
  for await (const entry of entriesOf(context, 'importing', file)) {
    if (!('rule' in entry)) continue;
    const { expiresAt } = entry.rule.rule;
    if (expiresAt !== null && expiresAt <= now) {
      counts.expired += 1;
      continue;
    }
    const signals = historyOf(entry.rule);
    // The messages of a rule stay together.
    if (batch.length + signals.length > BATCH.messages || characters > BATCH.characters) await flush();
    const messages = signals.map((signal, i) =>
      messageOf(entry.rule, signal, signalId(signal.origin?.batchId ?? batchId, batch.length + i + 1), destination),
    );
    batch.push(...messages);
    for (const { value } of messages) characters += value.length;
    counts.rules += 1;
  }
  await flush();
  return counts;
}

/** The signals of a rule and of the rules it replaced, oldest first, each with its batch and key. */
function historyOf(rule: SavedRule): (PastSignal & Pick<SavedRule, 'origin'>)[] {
  const signals = ruleToSignals(rule);
  const last = { ...signals.at(-1)!, origin: rule.origin };
  return rule.before === undefined ? [...signals.slice(0, -1), last] : [...historyOf(rule.before), last];
}

function messageOf(
  rule: SavedRule,
  { signal, receivedAt, origin }: PastSignal & Pick<SavedRule, 'origin'>,
  id: string,
  { workspace, ids, keyIds, author }: Destination,
): Message {
  const { id: workspaceId, organizationId } = workspace;
  const listId = rule.listId === null ? undefined : ids.get(rule.listId);
  const { keyId, actor, personId } = origin ?? author;
  const key = keyId === null ? {} : { keyId: keyIds.get(keyId) ?? keyId };
  return encodeMessage(signal, {
    organizationId,
    workspaceId,
    listId,
    receivedAt,
    signalId: id,
    ...key,
    ...senderOf({ actor: actor ?? undefined, personId: personId ?? undefined }),
  });
}

async function* entriesOf(context: Context, what: string, { path, size }: ImportFile): AsyncGenerator<Entry> {
  const progress = startProgress(context, what, size, { rules: 0 });
  let bytes = 0;
  let rules = 0;
  try {
    for await (const entry of readEntries(path, (length) => {
      bytes += length;
    })) {
      yield entry;
      if ('rule' in entry) rules += 1;
      progress.update(bytes, { rules });
    }
    progress.update(size, { rules });
  } finally {
    progress.stop();
  }
}
