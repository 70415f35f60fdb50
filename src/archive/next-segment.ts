/** The next segment of an archive, read from the store: written by the consumer, and read directly by look-ups (SPEC D61.3). */
import { isoTime } from '../clock.ts';
import type { StoreReads } from '../ports/store.ts';
import { RULE_RETENTION } from '../ports/stored/account-store.ts';
import type { ArchiveEvent, ArchiveScan, ArchiveState } from '../ports/stored/archive-store.ts';
import { ruleJson } from '../signal/rule-json.ts';
import type { Ending } from './folder.ts';
import type { Position, Segment, SegmentHead } from './segments.ts';
import { type ArchivedSettings, digestOf, type ServiceSettings, settingsNow } from './settings.ts';

/** Rules per page. */
const PAGE = 500;
/** Transactions may become visible this late, ms. */
export const SETTLED = 120_000;
/** Data nearer to its deletion is not trusted, ms. */
const MARGIN = 3_600_000;
/** Events of the audit log that may change a feed. */
export const SETTINGS_EVENTS = /^((list|feed|source)s?|workspace|settings) /;

/** The store no longer has everything since the end of the archive. */
export class MissingChanges extends Error {}

/** One state of a workspace. */
export interface Reading {
  readonly state: ArchiveState;
  readonly settings: ArchivedSettings;
  readonly head: Pick<SegmentHead, 'weir_archive' | 'workspace' | 'until' | 'settings' | 'audit'>;
}

/** undefined: the workspace was deleted. */
export async function readNow(
  store: StoreReads,
  workspaceId: string,
  service: ServiceSettings,
  end: Ending | undefined,
): Promise<Reading | undefined> {
  for (;;) {
    const at = await store.ping();
    const newest = async () => (await store.auditPage(workspaceId, { after: null, limit: 1 })).items[0]?.id ?? 0;
    const audit = await newest();
    const settings = await settingsNow(store, workspaceId, service, at);
    const state = await store.archiveState(workspaceId);
    if (settings === undefined || state === undefined) return undefined;
    if (audit !== (await newest())) continue;
    // Without a stored batch nothing has landed for a week.
    const until = { seq: state.seq === 0 ? (end?.until.seq ?? 0) : state.seq, at };
    return { state, settings, head: { weir_archive: 1, workspace: workspaceId, until, settings: digestOf(settings), audit } };
  }
}

export function base(store: StoreReads, { state, settings, head }: Reading): Segment {
  const { until } = head;
  const events = eventsOf(store, state, null, until);
  return { head: { ...head, kind: 'base', from: null, settings_changed: null, lost: [] }, settings, events };
}

/** Throws MissingChanges, also while the events are read. */
export async function changes(store: StoreReads, { state, settings, head }: Reading, { until: from, ...end }: Ending): Promise<Segment> {
  const check = async () => {
    const { lostUntil, restoredAt } = (await store.archiveState(head.workspace)) ?? state;
    // A smaller number: the store was restored without `weir restore`.
    const isOfBackup = restoredAt > from.at || head.until.seq < from.seq;
    if (isOfBackup || (await store.ping()) - from.at > RULE_RETENTION - MARGIN || lostUntil > from.seq)
      throw new MissingChanges(`the store no longer has all changes since ${isoTime(from.at)}`);
  };
  await check();
  const rows = await settingRows(store, head.workspace, from.at, end.audit);
  const known = new Set(state.lists.map(({ id }) => id));
  async function* events() {
    yield* eventsOf(store, state, from, head.until);
    await check();
  }
  return {
    head: {
      ...head,
      ...{ kind: 'changes', from, settings_changed: rows.length === 0 ? null : [rows.at(-1)!.at, rows[0]!.at] },
      lost: rows.flatMap(({ event, object }) => (event === 'list deleted' && !known.has(object) ? [object] : [])),
    },
    settings: head.settings === end.settings ? undefined : settings,
    events: events(),
  };
}

/** Newest first. */
async function settingRows(store: StoreReads, workspaceId: string, since: number, audit: number) {
  const found = [];
  let before = { at: Number.MAX_SAFE_INTEGER, id: 0 };
  for (;;) {
    const rows = await store.auditBetween(workspaceId, { from: since - SETTLED, before }, PAGE);
    found.push(...rows.filter(({ id, event }) => id > audit && SETTINGS_EVENTS.test(event)));
    if (rows.length < PAGE) return found;
    before = rows.at(-1)!;
  }
}

async function* eventsOf(
  store: StoreReads,
  { workspace, lists }: ArchiveState,
  from: Position | null,
  until: Position,
): AsyncGenerator<string> {
  for (const list of lists) {
    for (const kind of ['current', 'previous'] as const) {
      const start = from?.seq ?? (kind === 'current' ? -1 : until.seq);
      let after: ArchiveScan['after'] | null = kind === 'current' ? [0, start] : [start, Number.MAX_SAFE_INTEGER];
      while (after !== null) {
        const scan: ArchiveScan = { workspace, list, from: from?.seq ?? null, to: until.seq, of: kind, after };
        const page = await store.archivePage(scan, PAGE);
        for (const event of page.events) if (isNeeded(event, from, until)) yield lineOf(event, from === null ? until.at : event.at);
        after = page.next;
      }
    }
  }
}

/** A base has no expired rules. */
const isNeeded = ({ stored }: ArchiveEvent, from: Position | null, { at }: Position): boolean =>
  from !== null || stored === null || stored.rule.expiresAt === null || stored.rule.expiresAt > at;

/** Begins with id and target: readers skip other lines. */
function lineOf({ id, target, listId, seq, stored, by }: ArchiveEvent, at: number | null): string {
  if (at === null) throw new MissingChanges(`the store no longer has the batch of the change ${seq}`);
  const { batchId = null, keyId = null, actor, personId } = by ?? {};
  const rule = stored && { ...Object.fromEntries(Object.entries(ruleJson(stored)).filter(([, value]) => value !== null)), seq: stored.seq };
  return JSON.stringify({
    ...{ id, target, list: listId, at: isoTime(at), seq, rule },
    ...(by !== null && { by: { batch_id: batchId, key_id: keyId, actor, person: personId } }),
  });
}
