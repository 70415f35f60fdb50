/** Large changes among landing items (SPEC D65.1): measured after they are applied, in the same transaction. */
import type { Network } from '@weir/network/network.ts';
import { addressesOf, isWayBack, largeReason, largeSettingsOf } from '../../account/large.ts';
import { EXCEPTIONS_KEY } from '../../ports/snapshot.ts';
import { type FrozenHead, MOST_FROZEN_RULES } from '../../ports/stored/freeze-store.ts';
import { haltCanary, moveRevision } from '../accounts/freezes.ts';
import { feedIn, profileIn } from '../accounts/frozen-feeds.ts';
import { ruleSource } from '../accounts/lists.ts';
import type { NumberedItem } from '../batches/batches.ts';
import { COLUMNS, handOver } from '../changes-since.ts';
import { actionCode, targetOf } from '../columns.ts';
import type { Row } from '../rows.ts';
import { FrozenRules } from '../rules/frozen-rules.ts';
import { blockedAddresses, forgetAddresses, HAS_CANARIES, isSignal, recentOf, senderOfItem } from '../usage/recent-addresses.ts';
import { all, allOf, one, run, type Work } from '../work.ts';
import { overlapOf } from './overlap.ts';
import { type Staged, startCanaries, unfrozenCanaries } from './start.ts';

/** The landing starts again, and freezes the feeds of these workspaces first. */
export class CanaryNeeded extends Error {
  readonly large: readonly Staged[];

  constructor(large: readonly Staged[]) {
    super('a large change begins a canary');
    this.large = large;
  }
}

/** Throws CanaryNeeded. `now`: time of the landing, ms. */
export function* watchLarge(known: readonly NumberedItem[], now: number): Work<void> {
  const byWorkspace = Map.groupBy(known, ({ workspace }) => workspace);
  const text = (places: string) => `SELECT w.* FROM workspaces w WHERE w.pk IN (${places}) AND (${HAS_CANARIES}) ORDER BY w.pk`;
  const staged: Staged[] = [];
  for (const workspace of yield* allOf([...byWorkspace.keys()], text)) {
    const workspacePk = Number(workspace.pk);
    const place = { workspaceId: String(workspace.id), workspacePk };
    const items = byWorkspace.get(workspacePk)!;
    const changes = yield* changesOf(workspacePk, items);
    const large = yield* largeSenders(workspace, items, changes, now);
    const [reason] = large.values();
    if (reason !== undefined) {
      const blocks = changes.flatMap(({ sender, after }) => (large.has(sender) ? blockIn(after) : []));
      const of = { ...place, reason, overlap: yield* overlapOf(workspacePk, blocks, now) };
      if ((yield* unfrozenCanaries(workspacePk)).length > 0) staged.push(of);
      else yield* startCanaries(String(now), of);
    }
    const small = changes.filter(({ sender }) => !large.has(sender));
    yield* passSmall(place, items, small, now);
  }
  if (staged.length > 0) throw new CanaryNeeded(staged);
}

function blockIn(row: Row | undefined): Network[] {
  const target = Number(row?.action) === actionCode('block') ? targetOf(String(row!.target)) : undefined;
  return target?.kind === 'ip' ? [target.network] : [];
}

type Place = Pick<Staged, 'workspaceId' | 'workspacePk'>;

interface Change {
  readonly id: number;
  readonly list: number;
  readonly seq: number;
  readonly sender: string;
  /** undefined: added. */
  readonly before: Row | undefined;
  /** undefined: deleted. */
  readonly after: Row | undefined;
}

const LISTS = '(SELECT pk FROM lists WHERE workspace_pk = $1)';

function* changesOf(workspacePk: number, items: readonly NumberedItem[]): Work<Change[]> {
  const [from, to] = [items[0]!.seq, items.at(-1)!.seq];
  const range = [workspacePk, from, to] as const;
  const before = yield* all(
    `SELECT list_pk, id, existed, action, target, created_at, expires_at, changed FROM access_rules_before
     WHERE list_pk IN ${LISTS} AND changed BETWEEN $2 AND $3 ORDER BY changed DESC`,
    ...range,
  );
  const select = `SELECT ${COLUMNS}, list_pk, seq FROM access_rules WHERE list_pk IN ${LISTS} AND id`;
  const added = yield* all(`${select} BETWEEN $2 AND $3`, ...range);
  // The first version is last.
  const earlier = new Map(before.map((row) => [Number(row.id), row]));
  const latest = new Map(before.toReversed().map((row) => [Number(row.id), Number(row.changed)]));
  const ids = [...earlier.keys()].filter((id) => id < from);
  const changed = yield* allOf(ids, (places) => `${select} IN (${places})`, workspacePk);
  const after = new Map([...added, ...changed].map((row) => [Number(row.id), row]));
  const senders = new Map(items.map((each) => [each.seq, senderOfItem(each)]));
  return [...new Set([...earlier.keys(), ...after.keys()])].map((id) => {
    const [was, is] = [earlier.get(id), after.get(id)];
    const seq = Math.max(Number(is?.seq ?? 0), latest.get(id) ?? 0);
    const existed = was !== undefined && Number(was.existed) === 1 && id < from;
    return {
      id,
      list: Number((is ?? was)!.list_pk),
      seq,
      sender: senders.get(seq) ?? 'nobody',
      before: existed ? was : undefined,
      after: is,
    };
  });
}

/** With the reason of each. */
function* largeSenders(workspace: Row, items: readonly NumberedItem[], changes: readonly Change[], now: number): Work<Map<string, string>> {
  const settings = largeSettingsOf(workspace);
  const pk = Number(workspace.pk);
  const reverting = yield* wayBack(pk, items, now);
  const large = new Map<string, string>();
  for (const [sender, own] of Map.groupBy(
    changes.filter(({ seq }) => !reverting.has(seq)),
    (each) => each.sender,
  )) {
    const sent = items.filter((each) => senderOfItem(each) === sender);
    const [item] = sent;
    if (item === undefined || settings.large === 'none' || (isSignal(item) && settings.large !== 'all')) continue;
    let [addresses, places, networks] = [0, 0, 0];
    for (const { before, after } of own) {
      const isSame = before !== undefined && after !== undefined && before.action === after.action && before.target === after.target;
      if (isSame && endOf(after) >= endOf(before)) continue;
      const removed = before !== undefined && !isWayBack(Number(before.created_at), now) ? [before] : [];
      for (const row of [...removed, ...(after === undefined || isSame ? [] : [after])]) {
        const target = targetOf(String(row.target));
        networks += 1;
        addresses += addressesOf(target);
        if (target.kind !== 'ip') places += 1;
      }
    }
    if (networks === 0) continue;
    // The sum of the last minutes contains the blocks of this landing.
    const blocks = sent.reduce((sum, each) => sum + blockedAddresses(each), 0);
    const earlier = (yield* recentOf(pk, sender, now)) - blocks;
    const touched = [...new Set(own.map(({ list }) => list))];
    const before =
      settings.largePercent === null ? undefined : (yield* countOf(touched)) - own.filter((each) => each.before === undefined).length;
    const size = { isSignal: isSignal(item), addresses: addresses + Math.max(0, earlier), places, networks, before };
    const reason = largeReason(settings, size);
    if (reason === undefined) continue;
    large.set(sender, reason);
    yield* forgetAddresses(pk, sender, now, blocks);
  }
  return large;
}

const endOf = ({ expires_at: end }: Row) => Number(end ?? Number.POSITIVE_INFINITY);

function* countOf(lists: readonly number[]): Work<number> {
  let count = 0;
  for (const list of lists) count += Number((yield* one('SELECT count(*) AS rules FROM access_rules WHERE list_pk = $1', list))!.rules);
  return count;
}

/** Numbers of undos of young batches. */
function* wayBack(workspacePk: number, items: readonly NumberedItem[], now: number): Work<Set<number>> {
  const found = new Set<number>();
  for (const { item, seq } of items) {
    if (item.change.change !== 'undo') continue;
    const text = 'SELECT min(landed_at) AS at FROM batches WHERE workspace_pk = $1 AND batch_id = $2';
    const at = (yield* one(text, workspacePk, item.change.batchId))?.at;
    if (at != null && isWayBack(Number(at), now)) found.add(seq);
  }
  return found;
}

/** The frozen feed with the lists that have joined it since, if it has all lists: their small changes do not wait (SPEC D65.2). */
function* withJoined(freeze: Row, changed: ReadonlySet<string>, { workspaceId, workspacePk }: Place, now: number): Work<FrozenHead> {
  const head = JSON.parse(String(freeze.head)) as FrozenHead;
  const missing = changed.difference(new Set(head.lists.map(({ id }) => id)));
  const feedId = feedIn(freeze);
  const all = 'SELECT pk FROM feeds WHERE workspace_pk = $1 AND id = $2 AND all_lists = 1';
  if (missing.size === 0 || head.quorum !== null || (feedId !== null && (yield* one(all, workspacePk, feedId)) === undefined)) return head;
  const joined = (yield* ruleSource(String(now), workspaceId, feedId))!.head.lists.filter(({ id }) => missing.has(id));
  const end = head.lists.length;
  // The never-block rules of other lists are the last part.
  for (const table of ['frozen_rules', 'frozen_changes'])
    yield* run(`UPDATE ${table} SET part = part + $3 WHERE freeze_pk = $1 AND part = $2`, Number(freeze.pk), end, joined.length);
  const counts = head.counts.toSpliced(end, 0, ...joined.map(() => 0));
  const after = { ...head, lists: [...head.lists, ...joined.map(({ key: _, ...list }) => list)], counts };
  yield* run('UPDATE freezes SET head = $2 WHERE pk = $1', Number(freeze.pk), JSON.stringify(after));
  return after;
}

/** Reported as the reason of a stop. */
const FULL = `small changes reach the canaries only, too: ${MOST_FROZEN_RULES.toLocaleString('en')} rules are stored`;

/** Small changes reach the frozen feeds of canaries immediately. `now`: ms. */
function* passSmall(
  { workspaceId, workspacePk }: Place,
  items: readonly NumberedItem[],
  changes: readonly Change[],
  now: number,
): Work<void> {
  if (changes.length === 0) return;
  const freezes = yield* all('SELECT * FROM freezes WHERE workspace_pk = $1 AND canary IS NOT NULL ORDER BY pk', workspacePk);
  if (freezes.length === 0) return;
  yield* moveRevision(workspacePk);
  const ids = yield* allOf([...new Set(changes.map(({ list }) => list))], (places) => `SELECT pk, id FROM lists WHERE pk IN (${places})`);
  const idOf = new Map(ids.map((row) => [Number(row.pk), String(row.id)]));
  const seq = items.at(-1)!.seq;
  for (const freeze of freezes) {
    const isOver = Number(freeze.rules) > MOST_FROZEN_RULES;
    if (isOver && freeze.until_at === null) continue;
    if (isOver || Number(freeze.rules) + changes.length > MOST_FROZEN_RULES) {
      yield* run('UPDATE freezes SET rules = $2 WHERE pk = $1', Number(freeze.pk), MOST_FROZEN_RULES + 1);
      yield* haltCanary(String(now), { workspaceId, workspacePk, feedId: feedIn(freeze) }, FULL);
      continue;
    }
    const { lists } = yield* withJoined(freeze, new Set(idOf.values()), { workspaceId, workspacePk }, now);
    const parts = lists.map(({ id }, part) => [part, changes.filter(({ list }) => idOf.get(list) === id), false] as const);
    const exceptions = profileIn(freeze).subtractAllow === 'workspace' ? [[lists.length, changes, true] as const] : [];
    let written = 0;
    for (const [part, own, isException] of [...parts, ...exceptions]) {
      if (own.length === 0) continue;
      const rules = new FrozenRules();
      rules.list(EXCEPTIONS_KEY);
      for (const { id } of own) rules.removed(id);
      for (const { after } of own)
        if (after !== undefined && !(isException && Number(after.action) === actionCode('block'))) handOver(after, rules, isException);
      for (const [piece, bytes] of rules.pieces().entries())
        yield* run(
          'INSERT INTO frozen_changes (freeze_pk, part, seq, piece, rules) VALUES ($1, $2, $3, $4, $5)',
          ...[Number(freeze.pk), part, seq, piece],
          bytes,
        );
      written += own.length;
    }
    if (written === 0) continue;
    const text = 'UPDATE freezes SET rules = rules + $2, revision = -(SELECT revision FROM workspaces WHERE pk = $3) WHERE pk = $1';
    yield* run(text, Number(freeze.pk), written, workspacePk);
  }
}
