/** Previews an undo (D9.3) in small chunks and yields in between. */
import type { Step, UndoPreview } from '../../ports/stored/rule-store.ts';
import { workspacePk } from '../row-ids.ts';
import type { Row } from '../rows.ts';
import type { RuleTable } from '../rules/rule-columns.ts';
import { all, allByKey, type Value, type Work } from '../work.ts';
import { byId, exists, IDENTITIES, isGivenUp, type Stretch, stretchesOf, undoSelections } from './undo-selections.ts';

const SAMPLE = 10;
/** Placeholder: the undo has no number yet. */
const NO_SEQ = -1;
export interface Pace {
  /** Rules per chunk: initial and minimum; maximum. */
  readonly least: number;
  readonly most: number;
  /** Time, ms, above which the next chunk is smaller, and below which it is larger. */
  readonly long: number;
  readonly short: number;
}
const ON_THIS_THREAD: Pace = { least: 64, most: 256, long: 6, short: 3 };

type Effect = 'removes' | 'restores' | 'keeps' | 'none';
type Counts = Record<Exclude<Effect, 'none'>, number>;
interface Found {
  readonly effects: readonly Effect[];
  readonly sample: readonly string[];
}

interface Place {
  readonly workspace: number;
  readonly batchId: string;
  readonly rules: RuleTable;
  readonly byRefs: readonly boolean[];
  readonly stretch: Stretch;
  readonly side: 'made' | 'changed';
}

interface Mark {
  readonly changed: number;
  readonly id: number;
}

const atOnce: Step = (work) => work();

export async function undoPreview(
  read: <T>(work: Work<T>) => Promise<T>,
  step: Step = atOnce,
  workspaceId: string,
  batchId: string,
  { least, most, long, short }: Pace = ON_THIS_THREAD,
): Promise<UndoPreview> {
  const counts: Counts = { removes: 0, restores: 0, keeps: 0 };
  const sample: string[] = [];
  let size = least;
  for (const place of await step(() => read(placesOf(workspaceId, batchId)))) {
    for (let after: Mark | undefined = START; after !== undefined; ) {
      const from: Mark = after;
      let took = 0;
      const piece: { readonly found: Found; readonly last: Mark } | undefined = await step(async () => {
        const begun = performance.now();
        const done = await read(pieceOf(place, from, size, SAMPLE - sample.length));
        took = performance.now() - begun;
        return done;
      });
      if (took > long) size = Math.max(least, size >> 1);
      else if (took < short) size = Math.min(most, size * 2);
      for (const effect of piece?.found.effects ?? []) if (effect !== 'none') counts[effect] += 1;
      sample.push(...(piece?.found.sample ?? []));
      after = piece?.last;
    }
  }
  return { ...counts, sample };
}

const START: Mark = { changed: -1, id: -1 };

/** Empty if the batch or its replaced versions are no longer stored. */
function* placesOf(workspaceId: string, batchId: string): Work<Place[]> {
  const workspace = yield* workspacePk(workspaceId);
  if (workspace === undefined || (yield* isGivenUp(workspace, batchId))) return [];
  const places: Place[] = [];
  for (const { rules, byRefs } of IDENTITIES) {
    for (const stretch of yield* stretchesOf(rules, workspace, batchId)) {
      for (const side of ['made', 'changed'] as const) places.push({ workspace, batchId, rules, byRefs, stretch, side });
    }
  }
  return places;
}

/** Up to `size`; undefined: no more. */
function* pieceOf(place: Place, after: Mark, size: number, samples: number): Work<{ found: Found; last: Mark } | undefined> {
  const { rules, stretch, side } = place;
  const { first, last: end } = stretch;
  const rows =
    side === 'made'
      ? yield* allByKey(
          `SELECT r.id AS id, r.id AS changed FROM ${rules.table} r WHERE ${byId(rules, 'r')} = $1 AND r.id BETWEEN $2 AND $3 AND r.id > $4
           ORDER BY r.id LIMIT $5`,
          ...[stretch.place, first, end, after.id, size],
        )
      : yield* allByKey(
          `SELECT c.id, c.changed FROM ${rules.before} c WHERE c.${rules.place} = $1 AND c.changed BETWEEN $2 AND $3
           AND (c.changed > $4 OR c.id > $5) ORDER BY c.changed, c.id LIMIT $6`,
          ...[stretch.place, Math.max(first, after.changed), end, after.changed, after.id, size],
        );
  const lastRow = rows.at(-1);
  if (lastRow === undefined) return undefined;
  const last = { changed: Number(lastRow.changed), id: Number(lastRow.id) };
  const effects: Effect[] = [];
  const sample: string[] = [];
  for (const byRef of place.byRefs) {
    const found = yield* side === 'made' ? made(place, byRef, rows) : changed(place, byRef, after, last, rows);
    effects.push(...found.map(({ effect }) => effect as Effect));
    const acting = found.filter(({ effect }) => effect === 'removes' || effect === 'restores').slice(0, samples - sample.length);
    if (acting.length > 0) sample.push(...(yield* samplesOf(place, acting)));
  }
  return { found: { effects, sample }, last };
}

function* made({ workspace, batchId, rules, stretch }: Place, byRef: boolean, rows: readonly Row[]): Work<Row[]> {
  const { made: rule } = undoSelections(rules, byRef);
  return yield* allByKey(
    `SELECT r.id, CASE WHEN ${rule.open} THEN 'removes' ELSE 'keeps' END AS effect FROM ${rules.table} r WHERE ${rule.all} ORDER BY r.id`,
    ...[workspace, NO_SEQ, batchId, stretch.place, Number(rows[0]!.id), Number(rows.at(-1)!.id)],
  );
}

function* changed(
  { workspace, batchId, rules, stretch }: Place,
  byRef: boolean,
  after: Mark,
  last: Mark,
  rows: readonly Row[],
): Work<Row[]> {
  const { changed: rule } = undoSelections(rules, byRef);
  const there = exists(`${rules.table} n WHERE ${byId(rules, 'n')} = c.${rules.place} AND n.id = c.id`);
  const values: Value[] = [workspace, NO_SEQ, batchId, stretch.place, Number(rows[0]!.changed), last.changed];
  return yield* allByKey(
    `SELECT c.id, c.changed, CASE WHEN ${rule.open} THEN CASE WHEN c.existed = 1 THEN 'restores' WHEN ${there} THEN 'removes' ELSE 'none' END
       WHEN ${rule.settled} THEN 'none' WHEN c.existed = 1 OR ${there} THEN 'keeps' ELSE 'none' END AS effect
     FROM ${rules.before} c WHERE ${rule.all} AND (c.changed > $7 OR c.id > $8) AND (c.changed < $6 OR c.id <= $9) ORDER BY c.changed, c.id`,
    ...[...values, after.changed, after.id, last.id],
  );
}

function* samplesOf({ rules, stretch, side }: Place, found: readonly Row[]): Work<string[]> {
  const { table, before, place } = rules;
  const wanted = found.map((_, i) => `$${i + 2}`);
  const ids = found.map(({ id }) => Number(id));
  const what = place === 'list_pk' ? 'target' : 'expression';
  const numbers = found.map(({ changed }) => Number(changed));
  const rows =
    side === 'made'
      ? yield* all(
          `SELECT r.id, r.rule_ref, r.${what} AS what, r.action FROM ${table} r WHERE ${byId(rules, 'r')} = $1 AND r.id IN (${wanted})`,
          ...[stretch.place, ...ids],
        )
      : yield* all(
          `SELECT c.id, c.changed, c.rule_ref, c.${what} AS what, c.action FROM ${before} c
           WHERE c.${place} = $1 AND c.id IN (${wanted}) AND c.changed BETWEEN $${ids.length + 2} AND $${ids.length + 3}`,
          ...[stretch.place, ...ids, Math.min(...numbers), Math.max(...numbers)],
        );
  return found.flatMap(({ id, changed, effect }) => {
    const row = rows.find((each) => Number(each.id) === Number(id) && (side === 'made' || Number(each.changed) === Number(changed)));
    return row === undefined ? [] : [`${effect === 'removes' ? 'remove' : 'restore'} ${sampleText(row)}`];
  });
}

const ACTION: Readonly<Record<string, string>> = { '0': 'block', '1': 'allow' };
const sampleText = ({ rule_ref, what, action }: Row) =>
  [ACTION[String(action)] ?? action, what, ...(rule_ref === null ? [] : [`(${rule_ref})`])].join(' ');
