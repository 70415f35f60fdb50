/** Rules of a frozen feed as compressed records, about ten bytes a rule (SPEC D60.2). */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { WeirError } from '../../errors.ts';
import { EXCEPTIONS_KEY, type KnownRules, type ListSink, type RuleSink, type SnapshotHead } from '../../ports/snapshot.ts';
import { type FrozenContent, MOST_FROZEN_RULES } from '../../ports/stored/freeze-store.ts';
import { type GeoTarget, RULE_ROLES, type RuleRole } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';
import { roleOf, targetOf } from '../columns.ts';
import type { Row } from '../rows.ts';
import { all, one, type Work } from '../work.ts';

/** Bytes of a piece before compression, and of the longest record. */
const PIECE = 1_048_576;
const LONGEST = 64;
const [V4, V6, GEO, REMOVED] = [0, 1, 2, 3];

export class FrozenRules implements ListSink {
  readonly #pieces: { readonly key: string; readonly rules: Uint8Array }[] = [];
  readonly #counts = new Map<string, number>();
  #key = '';
  #buffer = Buffer.allocUnsafe(PIECE);
  #end = 0;
  readonly #most: number;

  /** TOO_LARGE beyond `most` rules of a list. */
  constructor(most = MOST_FROZEN_RULES) {
    this.#most = most;
  }

  list(key: string): void {
    if (key === this.#key) return;
    this.#flush();
    this.#key = key;
  }

  /** Of a later change: earlier records of the rule do not count. */
  removed(id: number): void {
    this.#end = this.#record(REMOVED, id, 'block', 0, 0);
  }

  v4(id: number, role: RuleRole, address: number, prefix: number, expires: number, levels: number): void {
    const at = this.#record(V4, id, role, expires, levels);
    this.#buffer.writeUInt32BE(address, at);
    this.#buffer[at + 4] = prefix;
    this.#end = at + 5;
  }

  v6(id: number, role: RuleRole, bytes: Uint8Array, from: number, prefix: number, expires: number, levels: number): void {
    const at = this.#record(V6, id, role, expires, levels);
    this.#buffer.set(bytes.subarray(from, from + 16), at);
    this.#buffer[at + 16] = prefix;
    this.#end = at + 17;
  }

  geo(id: number, role: RuleRole, target: GeoTarget, expires: number, levels: number): void {
    const at = this.#record(GEO, id, role, expires, levels);
    const length = this.#buffer.write(formatTarget(target), at + 1, 'latin1');
    this.#buffer[at] = length;
    this.#end = at + 1 + length;
  }

  content({ lists, quorum, profile, kind, guardRails }: SnapshotHead, feedId: string | null): FrozenContent {
    this.#flush();
    const keys = [...lists.map(({ key }) => key), EXCEPTIONS_KEY];
    const { fits, ...rest } = quorum ?? { fits: new Map() };
    return {
      ...{ feedId, profile, rules: this.#counts.values().reduce((sum, count) => sum + count, 0) },
      head: {
        ...{ kind, guardRails, counts: keys.map((key) => this.#counts.get(key) ?? 0) },
        lists: lists.map(({ key: _, ...list }) => list),
        quorum: quorum === undefined ? null : (rest as Omit<typeof quorum, 'fits'>),
      },
      fits: fits.size === 0 ? null : JSON.stringify(Object.fromEntries(fits)),
      pieces: this.#pieces.map(({ key, rules }) => ({ part: keys.indexOf(key), rules })),
    };
  }

  pieces(): Uint8Array[] {
    this.#flush();
    return this.#pieces.map(({ rules }) => rules);
  }

  #record(kind: number, id: number, role: RuleRole, expires: number, levels: number): number {
    if (this.#end + LONGEST > PIECE) this.#flush();
    const count = (this.#counts.get(this.#key) ?? 0) + 1;
    if (count > this.#most) throw new WeirError('TOO_LARGE', `the feed has more than ${this.#most} rules`);
    this.#counts.set(this.#key, count);
    const at = this.#end;
    this.#buffer[at] = kind * 16 + RULE_ROLES.indexOf(role);
    this.#buffer[at + 1] = levels;
    this.#buffer.writeDoubleBE(id, at + 2);
    this.#buffer.writeUIntBE(expires, at + 10, 6);
    return at + 16;
  }

  #flush(): void {
    if (this.#end > 0) this.#pieces.push({ key: this.#key, rules: deflateRawSync(this.#buffer.subarray(0, this.#end), { level: 1 }) });
    this.#end = 0;
  }
}

/** Active rules without `later` ones; `at` in ms. Returns the number of all rules. */
function readPiece(
  compressed: Uint8Array,
  at: number,
  sink: RuleSink,
  later: ReadonlySet<number> = new Set(),
  removed: (id: number) => void = () => {},
): number {
  const bytes = inflateRawSync(compressed, { maxOutputLength: PIECE });
  let count = 0;
  for (let from = 0; from < bytes.length; count += 1) {
    const kind = bytes[from]! >> 4;
    const [role, levels] = [roleOf(bytes[from]! & 15), bytes[from + 1]!];
    const [id, expires] = [bytes.readDoubleBE(from + 2), bytes.readUIntBE(from + 10, 6)];
    const isActive = (expires === 0 || expires * 1000 > at) && !later.has(id);
    from += 16;
    if (kind === REMOVED) removed(id);
    else if (kind === V4) {
      if (isActive) sink.v4(id, role, bytes.readUInt32BE(from), bytes[from + 4]!, expires, levels);
      from += 5;
    } else if (kind === V6) {
      if (isActive) sink.v6(id, role, bytes, from, bytes[from + 16]!, expires, levels);
      from += 17;
    } else {
      const end = from + 1 + bytes[from]!;
      const target = targetOf(bytes.toString('latin1', from + 1, end));
      if (isActive && target.kind !== 'ip') sink.geo(id, role, target, expires, levels);
      from = end;
    }
  }
  return count;
}

const CHANGES = 'SELECT rules FROM frozen_changes WHERE freeze_pk = $1 AND part = $2 ORDER BY seq DESC, piece DESC';

/** Newest first. Collects the ids whose earlier records do not count. */
function readChanges(rows: readonly Row[], at: number, sink: RuleSink, later: Set<number>): void {
  for (const { rules } of rows) {
    const removed: number[] = [];
    readPiece(rules as Uint8Array, at, sink, later, (id) => void removed.push(id));
    for (const id of removed) later.add(id);
  }
}

const SINCE = `SELECT c.freeze_pk, c.part, c.rules FROM frozen_changes c JOIN freezes z ON z.pk = c.freeze_pk
  WHERE z.workspace_pk = $1 AND c.seq > $2 ORDER BY c.freeze_pk, c.part, c.seq DESC, c.piece DESC`;
const NO_RULES: RuleSink = { v4() {}, v6() {}, geo() {} };

/** In known frozen lists since the workspace's change `known.change`. */
export function* takeFrozenChanges(
  workspacePk: number,
  known: Pick<KnownRules, 'lists' | 'change'>,
  at: number,
  sink: ListSink,
): Work<void> {
  const rows = yield* all(SINCE, workspacePk, known.change);
  for (const [key, own] of Map.groupBy(rows, ({ freeze_pk, part }) => frozenKey(freeze_pk, part))) {
    if (!known.lists.has(key)) continue;
    sink.list(key, false);
    for (const { rules } of own) readPiece(rules as Uint8Array, at, NO_RULES, undefined, (id) => sink.removed(id));
    readChanges(own, at, sink, new Set());
  }
}

export const frozenKey = (pk: unknown, part: unknown): string => `frozen ${pk} ${part}`;

export interface FrozenSource {
  readonly pk: number;
  /** Of each list, then of the never-block rules of other lists. */
  readonly counts: readonly number[];
}

/** All rules of unknown lists of a frozen feed, and its never-block rules. Throws if any are missing. */
export function* takeFrozen(
  { pk, counts }: FrozenSource,
  { lists, profile }: SnapshotHead,
  known: Pick<KnownRules, 'lists'>,
  at: number,
  sink: ListSink,
): Work<void> {
  const parts = [...lists.map(({ key }) => key), ...(profile.subtractAllow === 'workspace' ? [EXCEPTIONS_KEY] : [])];
  for (const [part, key] of parts.entries()) {
    if (known.lists.has(key)) continue;
    sink.list(key, true);
    const later = new Set<number>();
    readChanges(yield* all(CHANGES, pk, part), at, sink, later);
    let count = 0;
    for (let piece = -1; ; ) {
      const text = 'SELECT piece, rules FROM frozen_rules WHERE freeze_pk = $1 AND part = $2 AND piece > $3 ORDER BY piece LIMIT 1';
      const row = yield* one(text, pk, part, piece);
      if (row === undefined) break;
      piece = Number(row.piece);
      count += readPiece(row.rules as Uint8Array, at, sink, later);
    }
    if (count !== counts[part]) throw new Error(`the frozen feed has ${count} of ${counts[part]} rules of a list`);
  }
}
