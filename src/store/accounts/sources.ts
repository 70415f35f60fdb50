import type { Author } from '../../account/caller.ts';
import { newState, PLAIN_READING, type Source, type SourceSettings, type SourceState } from '../../account/source.ts';
import { afresh, invalidatesContent, resumed, type SavedSource, sourceSettingsJson } from '../../account/source-change.ts';
import type { SourceAsk } from '../../account/source-run.ts';
import { UNCOUNTED } from '../../account/source-state.ts';
import { WeirError } from '../../errors.ts';
import { pageOf } from '../../ports/stored/paginate.ts';
import type { SourceReads, SourceRecord, SourceWithSecret, SourceWrites } from '../../ports/stored/source-store.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import type { Row } from '../rows.ts';
import { all, type Changes, one, type Reads, run, type Value, type Work } from '../work.ts';
import {
  changeWorkspace,
  create,
  findWorkspace,
  insertList,
  moveKeyRevision,
  noSuch,
  requireState,
  tooMany,
  tooManyLists,
} from './account-statements.ts';
import { doneOnce } from './answers.ts';
import { audit, changed } from './audit.ts';
import { refuseName } from './feed-lists.ts';
import { removeList } from './list-deletion.ts';
import { listCount } from './lists.ts';
import { moveSourceRevision } from './source-states.ts';

const SELECT = `SELECT s.*, l.id AS list_id, l.name, w.id AS workspace_id
  FROM sources s JOIN lists l ON l.pk = s.list_pk JOIN workspaces w ON w.pk = s.workspace_pk`;
const ONE = `${SELECT} WHERE s.id = $2 AND s.workspace_pk = ${WORKSPACE_PK}`;

/** An older weir stored fewer reading settings. */
function settingsOf(row: Row): SourceSettings {
  const settings = JSON.parse(String(row.settings)) as SourceSettings;
  return { ...settings, reading: { ...PLAIN_READING, ...settings.reading } };
}
/** Missing fields of a state from an older weir get the values of a new source, except `countedFor` (see `isCounted`). */
const { countedFor: _, ...UNKNOWN } = newState(0);
const stateOf = (row: Row): SourceState => ({
  ...UNKNOWN,
  ...(JSON.parse(String(row.state)) as Partial<SourceState>),
  equalSeq: Number(row.equal_seq),
  undone: row.undone_by === null ? null : { batch: String(row.undone_by), seq: Number(row.undone_seq), at: Number(row.undone_at) },
});
const secretOf = (row: Row) => (row.secret === null ? null : (row.secret as Uint8Array));

const sourceOf = (row: Row): Source => ({
  ...settingsOf(row),
  id: String(row.id),
  workspaceId: String(row.workspace_id),
  listId: String(row.list_id),
  name: String(row.name),
  isPaused: Number(row.is_paused) === 1,
  revision: Number(row.revision),
  createdAt: Number(row.created_at),
});

const recordOf = (row: Row): SourceRecord => ({
  source: sourceOf(row),
  state: stateOf(row),
  asked: row.asked === null ? null : (JSON.parse(String(row.asked)) as SourceAsk),
});

export const sourceReads = {
  *sourceRevision() {
    return Number((yield* one("SELECT value FROM counters WHERE name = 'source_revision'"))?.value);
  },
  *allSources({ after, limit }) {
    const rows = yield* all(`${SELECT} WHERE s.pk > $1 ORDER BY s.pk LIMIT $2`, Number(after ?? 0), limit + 1);
    const { items, next } = pageOf(rows, limit, ({ pk }) => String(pk));
    return { items: items.map((row) => ({ ...recordOf(row), secret: secretOf(row) })), next };
  },
  *sourcePage(workspaceId, { after, limit }) {
    const page = `${SELECT} WHERE s.workspace_pk = ${WORKSPACE_PK} AND s.pk > $2 ORDER BY s.pk LIMIT $3`;
    const rows = yield* all(page, workspaceId, Number(after ?? 0), limit + 1);
    const { items, next } = pageOf(rows, limit, ({ pk }) => String(pk));
    return { items: items.map(recordOf), next };
  },
  *source(workspaceId, id) {
    const row = yield* one(ONE, workspaceId, id);
    return row && recordOf(row);
  },
  *sourceRuns(workspaceId, id) {
    const rows = yield* all(
      `SELECT r.run FROM sources s JOIN source_runs r ON r.source_pk = s.pk WHERE s.id = $2 AND s.workspace_pk = ${WORKSPACE_PK} ORDER BY r.n DESC`,
      workspaceId,
      id,
    );
    return rows.map((row) => JSON.parse(String(row.run)));
  },
} satisfies Reads<SourceReads>;

export function* sealedSources(workspaceId: string): Work<SourceWithSecret[]> {
  const rows = yield* all(`${SELECT} WHERE s.workspace_pk = ${WORKSPACE_PK} ORDER BY s.pk`, workspaceId);
  return rows.map((row) => ({ ...recordOf(row), secret: secretOf(row) }));
}

type Management = Omit<SourceWrites, 'writeSources' | 'claimLease' | 'releaseLease'>;

export const sourceChanges = {
  *createSource(
    now,
    workspaceId,
    { id, listId = crypto.randomUUID(), name, list, secret, ...settings },
    { maxSources, maxLists },
    { by, once } = {},
  ) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    yield* requireQuotaForSource(workspacePk, maxSources);
    if (maxLists > 0 && (yield* listCount(workspaceId)) >= maxLists) throw tooManyLists(maxLists);
    // A list of the same name could be mistaken for the source's.
    for (const table of ['lists', 'feeds'] as const) yield* refuseName(table, workspacePk, name);
    const row = yield* insertList(now, workspacePk, { ...list, id: listId, name, isDefault: false, sourceId: id });
    yield* insertSource(now, { id, workspacePk, listPk: Number(row.pk), settings, secret, state: newState(yield* instant(now)) });
    const made = yield* record(workspaceId, id);
    yield* audited(now, 'source created', made, { workspacePk, by }, null);
    yield* doneOnce(now, workspacePk, once, made);
    return made;
  },
  *updateSource(now, workspaceId, id, { secret, ...patch }, { by, ifMatch } = {}) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    const before = yield* lockedSource(workspaceId, id);
    const settings = settingsOf(before);
    requireState(sourceSettingsJson(settings), ifMatch);
    const isElsewhere = patch.url !== undefined || secret !== undefined;
    const isReset = isElsewhere || invalidatesContent(patch);
    const state = isReset ? afresh(stateOf(before), yield* instant(now), isElsewhere) : stateOf(before);
    yield* write(id, {
      settings: JSON.stringify({ ...settings, ...patch }),
      state: JSON.stringify(state),
      ...(secret !== undefined && { secret }),
    });
    const after = yield* record(workspaceId, id);
    yield* audited(now, 'source changed', after, { workspacePk, by }, sourceSettingsJson(settings));
    return after;
  },
  *pauseSource(now, workspaceId, id, isPaused, by) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    const state = stateOf(yield* lockedSource(workspaceId, id));
    const next = isPaused ? state : resumed(state, yield* instant(now));
    yield* write(id, { is_paused: isPaused ? 1 : 0, state: JSON.stringify(next) });
    yield* audit(now, isPaused ? 'source paused' : 'source resumed', id, { workspacePk, by });
    return yield* record(workspaceId, id);
  },
  *deleteSource(now, workspaceId, id, { by, ifMatch, forGood = false, keepList = false } = {}) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    const row = yield* lockedSource(workspaceId, id);
    const before = sourceSettingsJson(settingsOf(row));
    requireState(before, ifMatch);
    const listPk = Number(row.list_pk);
    const list = (yield* one('SELECT * FROM lists WHERE pk = $1', listPk))!;
    yield* run('DELETE FROM source_runs WHERE source_pk = $1', Number(row.pk));
    yield* run('DELETE FROM sources WHERE pk = $1', Number(row.pk));
    yield* moveSourceRevision();
    if (keepList) {
      yield* run('UPDATE lists SET source_id = NULL, revision = revision + 1 WHERE pk = $1', listPk);
      // Keys bound to the list may now change it.
      yield* moveKeyRevision();
    } else yield* removeList(now, { workspaceId, workspacePk, list, source: deletedSource(row), forGood, by });
    yield* audit(now, 'source deleted', id, { workspacePk, by, change: { before: { name: row.name, ...before }, after: null } });
  },
  *askSource(now, workspaceId, id, ask) {
    const workspacePk = yield* findWorkspace(workspaceId);
    const row = yield* lockedSource(workspaceId, id);
    const { asked } = recordOf(row);
    if (asked !== null && asked.what !== 'refresh')
      throw new WeirError(
        'REFUSED',
        `somebody has requested to ${asked.what} the changes of the source "${row.name}" on hold: wait until that is done`,
      );
    const both = asked === null || ask.what === 'refresh' ? ask : { ...ask, next: asked };
    yield* run('UPDATE sources SET asked = $2 WHERE id = $1', id, JSON.stringify(both));
    yield* moveSourceRevision();
    yield* audit(now, `source ${EVENTS[ask.what]}`, id, { workspacePk, by: ask.by });
    return yield* record(workspaceId, id);
  },
  *restoreSources(now, workspaceId, sources, by) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    for (const source of sources) yield* restoreSource(now, workspacePk, source);
    yield* moveKeyRevision();
    if (sources.length > 0) yield* audit(now, 'sources restored', workspaceId, { workspacePk, by });
  },
} satisfies Changes<Management>;

const EVENTS: Readonly<Record<SourceAsk['what'], string>> = { refresh: 'refresh asked', accept: 'accepted', discard: 'discarded' };

/** Store clock, ms. */
function* instant(now: string): Work<number> {
  return Number((yield* one(`SELECT ${now} AS at`))!.at);
}

/** Until the commit: a refresh waits. */
function* lockedSource(workspaceId: string, id: string): Work<Row> {
  yield* run(`UPDATE sources SET revision = revision WHERE id = $2 AND workspace_pk = ${WORKSPACE_PK}`, workspaceId, id);
  const row = yield* one(ONE, workspaceId, id);
  if (row === undefined) throw noSuch('source', id);
  return row;
}

function* record(workspaceId: string, id: string): Work<SourceRecord> {
  return recordOf((yield* one(ONE, workspaceId, id))!);
}

function* write(id: string, columns: Readonly<Record<string, Value>>): Work<void> {
  const sets = Object.keys(columns).map((column, i) => `${column} = $${i + 2}, `);
  yield* run(`UPDATE sources SET ${sets.join('')}revision = revision + 1 WHERE id = $1`, id, ...Object.values(columns));
  yield* moveSourceRevision();
}

type By = { readonly workspacePk: number; readonly by: Author | undefined };

function* audited(
  now: string,
  event: string,
  { source }: SourceRecord,
  of: By,
  before: Readonly<Record<string, unknown>> | null,
): Work<void> {
  const after = sourceSettingsJson(source);
  const change = before === null ? { before: null, after: { name: source.name, ...after } } : changed(before, after);
  yield* audit(now, event, source.id, { ...of, change });
}

/** Throws REFUSED above the limit; 0 = none. */
export function* requireQuotaForSource(workspacePk: number, most: number): Work<void> {
  if (most === 0) return;
  const row = yield* one('SELECT count(*) AS sources FROM sources WHERE workspace_pk = $1', workspacePk);
  if (Number(row!.sources) >= most) throw tooMany(most, 'sources', 'MAX_SOURCES');
}

interface SourceRow {
  readonly id: string;
  readonly workspacePk: number;
  readonly listPk: number;
  readonly settings: SourceSettings;
  readonly secret: Uint8Array | null;
  readonly state: SourceState;
  readonly isPaused?: boolean;
}

function* insertSource(now: string, { id, workspacePk, listPk, settings, secret, state, isPaused = false }: SourceRow): Work<void> {
  yield* create(now, 'sources', {
    id,
    workspace_pk: workspacePk,
    list_pk: listPk,
    settings: JSON.stringify(settings),
    secret,
    state: JSON.stringify(state),
    equal_seq: state.equalSeq,
    ...(state.undone !== null && { undone_by: state.undone.batch, undone_seq: state.undone.seq, undone_at: state.undone.at }),
    is_paused: isPaused ? 1 : 0,
    revision: 1,
  });
  yield* moveSourceRevision();
}

export type DeletedSource = Pick<SourceRow, 'id' | 'settings'> & { readonly secret: string | null } & Partial<Pick<SourceRow, 'state'>>;

const deletedSource = (row: Row): DeletedSource => ({
  id: String(row.id),
  settings: settingsOf(row),
  secret: row.secret === null ? null : Buffer.from(row.secret as Uint8Array).toString('base64'),
  state: stateOf(row),
});

/** Paused. Its content is fetched again; the list keeps its age. */
export function* restoreDeletedSource(
  now: string,
  workspacePk: number,
  listPk: number,
  { secret, state, ...rest }: DeletedSource,
): Work<void> {
  const at = yield* instant(now);
  yield* insertSource(now, {
    ...rest,
    ...{ workspacePk, listPk, isPaused: true },
    secret: secret === null ? null : Buffer.from(secret, 'base64'),
    state: { ...(state === undefined ? newState(at) : afresh(state, at, false)), applying: null, countedFor: UNCOUNTED },
  });
}

/** Replaces an id that is already used. Skips a list that has a source. */
function* restoreSource(now: string, workspacePk: number, { id, listId, isPaused, confirmedAt, ...settings }: SavedSource): Work<void> {
  const list = yield* one('SELECT pk, source_id, is_default FROM lists WHERE id = $1 AND workspace_pk = $2', listId, workspacePk);
  if (list === undefined) throw noSuch('list', listId);
  if (list.source_id !== null) return;
  if (Number(list.is_default) === 1) throw new WeirError('REFUSED', 'the default list of a workspace has no source');
  const own = (yield* one('SELECT id FROM sources WHERE id = $1', id)) === undefined ? id : crypto.randomUUID();
  const stop = settings.credential === null ? null : 'secret';
  const state: SourceState = { ...newState(yield* instant(now)), confirmedAt, stop, countedFor: UNCOUNTED };
  yield* insertSource(now, { id: own, workspacePk, listPk: Number(list.pk), settings, secret: null, state, isPaused });
  yield* run('UPDATE lists SET source_id = $2 WHERE pk = $1', Number(list.pk), own);
}
