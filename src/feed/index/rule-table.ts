import { type AccessAction, type GeoTarget, RULE_ROLES, type RuleRole, type Target } from '../../rule.ts';

const LEVEL_BITS = 5;
const LEVEL_MASK = (1 << LEVEL_BITS) - 1;
const FIRST_CAPACITY = 64;
/** Spare part of a trimmed table: 1/64. */
const SPARE_SHIFT = 6;
/** Id and tag of removed rows; never a valid rule. */
const NO_RULE = -1;
const NO_ROLE = 0xff;
/** Columns of empty tables: there may be very many lists. */
const NO_NUMBERS = new Float64Array(0);
const NO_BYTES = new Uint8Array(0);
const NO_WORDS = new Uint32Array(0);

/**
 * Rules with one kind of target, as numeric columns: a million rules must not be a million objects. A row takes 18 bytes, plus `width`
 * 32-bit words of address.
 */
export class RuleTable {
  readonly width: number;
  length = 0;
  /** Removed rows in order of removal. Their space is not reused. */
  readonly removals: { readonly row: number; readonly expires: number }[] = [];
  #isFilled = false;
  renewed = 0;
  /** Whole seconds, a lower bound; Infinity: none. */
  #expireFrom = Number.POSITIVE_INFINITY;
  ids = NO_NUMBERS;
  /** Whole seconds, 0 = never. Expiries beyond 2106 do not fit into 32 bits. */
  expires = NO_NUMBERS;
  /** Level code and role in one byte: see `roleTag` and `levelsOfTag`. */
  tags = NO_BYTES;
  prefixes = NO_BYTES;
  words = NO_WORDS;

  constructor(width: number) {
    this.width = width;
  }

  /** Returns the new row; the caller writes the address. */
  add(id: number, role: RuleRole, prefix: number, expires: number, levels: number): number {
    if (this.length === this.ids.length) this.#resize(this.length + (this.#isFilled ? this.length >> 4 : this.length) + FIRST_CAPACITY);
    const row = this.length++;
    this.ids[row] = id;
    this.#setExpiry(row, expires);
    this.tags[row] = levels | roleTag(role);
    this.prefixes[row] = prefix;
    return row;
  }

  get removed(): number {
    return this.removals.length;
  }

  /** Frees memory beyond the last row, but leaves long tables some: else the next row would copy all others. */
  trim(): void {
    this.#isFilled = true;
    const capacity = this.length + (this.length >> SPARE_SHIFT);
    if (capacity < this.ids.length) this.#resize(capacity);
  }

  /** Whole seconds, 0 = never. */
  renew(row: number, expires: number): void {
    this.#setExpiry(row, expires);
    this.renewed += 1;
  }

  /** False: no expiry at `second` or before. */
  mayExpire(second: number): boolean {
    return this.#expireFrom <= second;
  }

  /** Rules by id, and those expired at `now` (whole seconds; 0: none). */
  remove(ids: ReadonlySet<number>, now: number): void {
    let [lowest, highest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const id of ids) [lowest, highest] = [Math.min(lowest, id), Math.max(highest, id)];
    if (ids.size > 0) {
      for (let row = 0; row < this.length; row++) {
        const id = this.ids[row];
        if (id >= lowest && id <= highest && ids.has(id)) this.#remove(row);
      }
    }
    if (!this.mayExpire(now)) return;
    this.#expireFrom = Number.POSITIVE_INFINITY;
    for (let row = 0; row < this.length; row++) {
      const expires = this.expires[row];
      if (expires === 0) continue;
      if (expires <= now) this.#remove(row);
      else if (expires < this.#expireFrom) this.#expireFrom = expires;
    }
  }

  #remove(row: number): void {
    this.removals.push({ row, expires: this.expires[row] });
    this.ids[row] = NO_RULE;
    this.tags[row] = NO_ROLE;
    this.expires[row] = 0;
  }

  #setExpiry(row: number, expires: number): void {
    this.expires[row] = expires;
    if (expires !== 0 && expires < this.#expireFrom) this.#expireFrom = expires;
  }

  /** The tables must have equal width. */
  addAll(other: RuleTable): void {
    for (let from = 0; from < other.length; from++) {
      if (other.isRemoved(from)) continue;
      const row = this.add(other.ids[from], 'block', other.prefixes[from], other.expires[from], 0);
      this.tags[row] = other.tags[from];
      for (let word = 0; word < this.width; word++) this.words[row * this.width + word] = other.words[from * this.width + word];
    }
  }

  isRemoved(row: number): boolean {
    return this.tags[row] === NO_ROLE;
  }

  compacted(): RuleTable {
    const table = new RuleTable(this.width);
    table.addAll(this);
    table.trim();
    return table;
  }

  #resize(capacity: number): void {
    this.ids = resized(this.ids, capacity);
    this.expires = resized(this.expires, capacity);
    this.tags = resized(this.tags, capacity);
    this.prefixes = resized(this.prefixes, capacity);
    this.words = resized(this.words, capacity * this.width);
  }
}

export interface RuleTables {
  v4: RuleTable;
  v6: RuleTable;
  geo: RuleTable;
  geoTargets: GeoTarget[];
}

export const newTables = (): RuleTables => ({ v4: new RuleTable(1), v6: new RuleTable(4), geo: new RuleTable(0), geoTargets: [] });

/** `expires` in whole seconds, 0 = never. */
export function addRule(
  { v4, v6, geo, geoTargets }: RuleTables,
  id: number,
  role: RuleRole,
  target: Target,
  expires = 0,
  levels = 0,
): void {
  if (target.kind !== 'ip') {
    geo.add(id, role, 0, expires, levels);
    geoTargets.push(target);
    return;
  }
  const { family, address, prefix } = target.network;
  const table = family === 4 ? v4 : v6;
  // Adding may replace the columns.
  const row = table.add(id, role, prefix, expires, levels);
  if (family === 4) table.words[row] = address;
  else table.words.set(address, 4 * row);
}

export function addTables(into: RuleTables, from: RuleTables): void {
  for (const family of ['v4', 'v6', 'geo'] as const) into[family].addAll(from[family]);
  for (const target of from.geoTargets) into.geoTargets.push(target);
}

export const roleTag = (role: RuleRole): number => RULE_ROLES.indexOf(role) << LEVEL_BITS;
export const ROLE_MASK = 0xff & ~LEVEL_MASK;
export const actionOfTag = (tag: number): AccessAction => ((tag & ROLE_MASK) === roleTag('block') ? 'block' : 'allow');
export const levelsOfTag = (tag: number): number => tag & LEVEL_MASK;

function resized<T extends Float64Array | Uint32Array | Uint8Array>(column: T, length: number): T {
  const wider = new (column.constructor as new (length: number) => T)(length);
  wider.set(column.length > length ? column.subarray(0, length) : column);
  return wider;
}
