/** Frozen feeds (SPEC D60). Their revision is minus the workspace's: no other state of the feed has it. */
import type { Author } from '../../account/caller.ts';
import { WeirError } from '../../errors.ts';
import { CANARY, canaryText, isCanaryId, plainId } from '../../feed/canary.ts';
import type { Canary, QuorumSettings } from '../../ports/snapshot.ts';
import {
  alreadyFrozen,
  type Freeze,
  type FreezeReads,
  type FreezeWrites,
  type FrozenContent,
  type FrozenHead,
  MOST_FREEZES,
  MOST_FROZEN_RULES,
} from '../../ports/stored/freeze-store.ts';
import { redateDocuments } from '../document-record.ts';
import { FROM_FEED, WORKSPACE_PK } from '../row-ids.ts';
import { type Row, textOrNull } from '../rows.ts';
import { type FrozenSource, frozenKey } from '../rules/frozen-rules.ts';
import { all, type Changes, one, type Reads, run, type Work } from '../work.ts';
import { changeWorkspace, create, noSuch } from './account-statements.ts';
import { doneOnce } from './answers.ts';
import { audit } from './audit.ts';
import { canaryIn, feedIn, profileIn } from './frozen-feeds.ts';
import { type RuleSource, ruleSource } from './lists.ts';

export interface ServedSource extends RuleSource {
  readonly frozen?: FrozenSource;
}

/** Those of the freeze, else the current ones. */
export function* servedSource(now: string, workspaceId: string, feed: string | null): Work<ServedSource | undefined> {
  const isOfCanaries = isCanaryId(feed);
  const feedId = plainId(feed);
  const source = yield* ruleSource(now, workspaceId, feedId);
  if (source?.hasFreezes !== true) return source;
  const row = yield* one('SELECT * FROM freezes WHERE workspace_pk = $1 AND feed = $2', source.workspacePk, feedId ?? '');
  if (row === undefined) return source;
  const canary = canaryIn(row);
  if (isOfCanaries) return canary === null ? source : { ...source, head: { ...source.head, canary: canaryText('receives', canary) } };
  const { kind, guardRails, quorum, lists, counts } = JSON.parse(String(row.head)) as FrozenHead;
  const fits: QuorumSettings['fits'] = new Map(Object.entries(JSON.parse(String(row.fits ?? '{}')) as object));
  const head = {
    ...{ ...source.head, kind, guardRails, profile: profileIn(row), revision: Number(row.revision), frozenSince: Number(row.created_at) },
    ...(canary !== null && { canary: canaryText('waits', canary) }),
    lists: lists.map((list, part) => ({ ...list, key: frozenKey(row.pk, part) })),
    quorum: quorum === null ? undefined : { ...quorum, fits },
  };
  return { ...source, head, lists: [], frozen: { pk: Number(row.pk), counts } };
}

const freezeOf = (row: Row): Freeze => ({
  feedId: feedIn(row),
  name: profileIn(row).name,
  rules: Number(row.rules),
  reason: textOrNull(row.reason),
  by: JSON.parse(String(row.author)) as Author,
  since: Number(row.created_at),
  canary: canaryIn(row),
});

export const freezeReads = {
  *freezes(workspaceId) {
    return (yield* all(`SELECT * FROM freezes WHERE workspace_pk = ${WORKSPACE_PK} ORDER BY pk`, workspaceId)).map(freezeOf);
  },
} satisfies Reads<FreezeReads>;

/** Characters of a reason to which no other one is added. */
export const MOST_REASON = 1000;
/** A new revision of a frozen feed of the workspace `$1`. */
export const MOVED = '(SELECT -revision FROM workspaces WHERE pk = $1)';
/** Comes before MOVED in a landing: two states of a frozen feed have different revisions. */
export const moveRevision = (workspacePk: number): Work<number> =>
  run('UPDATE workspaces SET revision = revision + 1 WHERE pk = $1', workspacePk);
export const TOUCH_LISTS = 'UPDATE lists SET revision = revision + 1 WHERE workspace_pk = $1';

/** False: it is not frozen. */
export function* trimFrozen(workspacePk: number, feedId: string, trim: (fits: unknown) => string | null): Work<boolean> {
  const row = yield* one('SELECT pk, fits FROM freezes WHERE workspace_pk = $1 AND feed = $2', workspacePk, feedId);
  if (row === undefined) return false;
  yield* run(
    `UPDATE freezes SET revision = ${MOVED}, fits = $3 WHERE workspace_pk = $1 AND pk = $2`,
    workspacePk,
    Number(row.pk),
    trim(row.fits),
  );
  return true;
}

export function* forgetFreeze(workspacePk: number, feedId: string | null): Work<Row | undefined> {
  const row = yield* one('SELECT * FROM freezes WHERE workspace_pk = $1 AND feed = $2', workspacePk, feedId ?? '');
  if (row === undefined) return undefined;
  for (const table of ['frozen_rules', 'frozen_changes']) yield* run(`DELETE FROM ${table} WHERE freeze_pk = $1`, Number(row.pk));
  yield* run('DELETE FROM freezes WHERE pk = $1', Number(row.pk));
  return row;
}

/** Throws NOT_FOUND. */
function* placeOf(workspaceId: string, feedId: string | null): Work<{ readonly place: number; readonly row: Row }> {
  const columns = 'l.pk AS list_pk, f.pk AS feed_pk, w.name AS workspace_name';
  const found = yield* one(`SELECT ${columns} ${FROM_FEED}`, workspaceId, feedId);
  if (found === undefined) throw noSuch('feed', feedId ?? 'workspace');
  const { list_pk: list, feed_pk: feed, workspace_name: name } = found;
  if (list !== null) return { place: Number(list), row: (yield* one('SELECT * FROM lists WHERE pk = $1', Number(list)))! };
  if (feed !== null) return { place: -Number(feed), row: (yield* one('SELECT * FROM feeds WHERE pk = $1', Number(feed)))! };
  return { place: 0, row: { name } };
}

export function* insertFreeze(
  now: string,
  workspacePk: number,
  { feedId, profile, head, fits, rules, pieces }: FrozenContent,
  reason: string | null,
  by: Author | undefined,
  canary?: Canary,
): Work<Row> {
  const texts = { profile: JSON.stringify(profile), head: JSON.stringify(head), fits, author: JSON.stringify(by ?? {}) };
  const of = { canary: canary === undefined ? null : JSON.stringify(canary.keys), until_at: canary?.until ?? null };
  const row = yield* create(now, 'freezes', { workspace_pk: workspacePk, feed: feedId ?? '', revision: 0, ...texts, ...of, rules, reason });
  yield* run(
    `UPDATE freezes SET revision = ${MOVED}, staged_at = created_at WHERE workspace_pk = $1 AND pk = $2`,
    workspacePk,
    Number(row.pk),
  );
  for (const [piece, { part, rules: bytes }] of pieces.entries())
    yield* run('INSERT INTO frozen_rules (freeze_pk, part, piece, rules) VALUES ($1, $2, $3, $4)', Number(row.pk), part, piece, bytes);
  return row;
}

/** With a later date for everybody. */
export function* endFreeze(now: string, workspaceId: string, workspacePk: number, feedId: string | null): Work<Freeze | undefined> {
  const { place, row } = yield* placeOf(workspaceId, feedId);
  const frozen = yield* forgetFreeze(workspacePk, feedId);
  if (frozen === undefined) return undefined;
  const isCanary = frozen.canary !== null;
  // The settings of the frozen feed decided which variant a URL returned. A canary had dates of its own.
  yield* redateDocuments(now, workspacePk, place, { ...profileIn(frozen), ...(isCanary && { name: '' }) }, row);
  if (isCanary) {
    yield* run(`DELETE FROM feed_records WHERE workspace_pk = $1 AND list_pk = $2 AND format LIKE '${CANARY}%'`, workspacePk, place);
    yield* run(TOUCH_LISTS, workspacePk);
  }
  return freezeOf(frozen);
}

/** The others keep the feed until a person ends the canary, whose reason names why. undefined: there is none. */
export function* haltCanary(
  now: string,
  { workspaceId, workspacePk, feedId }: { readonly workspaceId: string; readonly workspacePk: number; readonly feedId: string | null },
  reason: string | null,
  by?: Author,
): Work<Row | undefined> {
  const why = `CASE WHEN CAST($3 AS TEXT) IS NULL OR length(reason) > ${MOST_REASON} THEN '' ELSE '; stopped: ' || $3 END`;
  const text = `UPDATE freezes SET until_at = NULL, revision = ${MOVED}, reason = reason || ${why}
    WHERE workspace_pk = $1 AND feed = $2 AND canary IS NOT NULL RETURNING *`;
  const row = yield* one(text, workspacePk, feedId ?? '', reason);
  if (row === undefined) return undefined;
  yield* run(TOUCH_LISTS, workspacePk);
  yield* audit(now, 'feed canary stopped', feedId ?? workspaceId, { workspacePk, by, change: { before: null, after: { reason } } });
  return row;
}

export const freezeChanges = {
  *freezeFeed(now, workspaceId, content, reason, { by, once } = {}) {
    const { feedId, rules } = content;
    const workspacePk = yield* changeWorkspace(workspaceId);
    yield* placeOf(workspaceId, feedId);
    const frozen = yield* all('SELECT feed, rules, canary FROM freezes WHERE workspace_pk = $1', workspacePk);
    const known = frozen.find((row) => feedIn(row) === feedId);
    if (known !== undefined) throw alreadyFrozen(canaryIn(known));
    const others = frozen.filter(({ canary }) => canary === null);
    if (others.length >= MOST_FREEZES)
      throw new WeirError('REFUSED', `the workspace has ${MOST_FREEZES} frozen feeds, its limit: thaw one`);
    if (others.reduce((sum, row) => sum + Number(row.rules), rules) > MOST_FROZEN_RULES)
      throw new WeirError('REFUSED', `the frozen feeds of a workspace have at most ${MOST_FROZEN_RULES} rules: thaw one`);
    const made = freezeOf(yield* insertFreeze(now, workspacePk, content, reason, by));
    const change = { before: null, after: { reason, rules } };
    yield* audit(now, 'feed frozen', feedId ?? workspaceId, { workspacePk, by, change });
    yield* doneOnce(now, workspacePk, once, made);
    return made;
  },
  *thawFeed(now, workspaceId, feedId, reason, { by } = {}) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    const freeze = yield* endFreeze(now, workspaceId, workspacePk, feedId);
    if (freeze === undefined) throw new WeirError('REFUSED', 'the feed is not frozen');
    const change = { before: { since: new Date(freeze.since).toISOString(), reason: freeze.reason }, after: { reason } };
    yield* audit(now, freeze.canary === null ? 'feed thawed' : 'feed canary promoted', feedId ?? workspaceId, { workspacePk, by, change });
    return freeze;
  },
  *stopCanary(now, workspaceId, feedId, reason, { by } = {}) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    const row = yield* haltCanary(now, { workspaceId, workspacePk, feedId }, reason, by);
    if (row === undefined) throw new WeirError('REFUSED', 'the feed has no canary in progress');
    return freezeOf(row);
  },
} satisfies Changes<FreezeWrites>;
