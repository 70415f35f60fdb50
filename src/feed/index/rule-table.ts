import { type AccessAction, type GeoTarget, RULE_ROLES, type RuleRole } from '../../rule.ts';

const LEVEL_BITS = 5;
const LEVEL_MASK = (1 << LEVEL_BITS) - 1;
const FIRST_CAPACITY = 64;
/** A full table has room for 1/64 more. */
const ROOM_SHIFT = 6;
/** The id and the tag of rows that were removed: no rule has such ones. */
const NO_RULE = -1;
const NO_ROLE = 0xff;
/** The columns of tables without a row: there may be very many lists. */
const NO_NUMBERS = new Float64Array(0);
const NO_BYTES = new Uint8Array(0);
const NO_WORDS = new Uint32Array(0);

/**
 * The rules of a snapshot whose targets are of one kind, as columns of numbers: a million rules must not be a million objects.
 * A rule is a row of 18 bytes, and of `width` 32-bit words in `words` for its address.
 */
export class RuleTable {
  readonly width: number;
  length = 0;
  /** Rows that were removed, in that order, with when they would have expired; they stay as rows of no rule. */
  readonly removals: { readonly row: number; readonly expires: number }[] = [];
  #isFilled = false;
  /** How many expiries were changed. */
  renewed = 0;
  /** Whole seconds: no rule expires before; Infinity: none does at all. */
  #expireFrom = Number.POSITIVE_INFINITY;
  ids = NO_NUMBERS;
  /** Whole seconds, 0 = never. Expiries lie a century ahead and more: beyond 2106 a second no longer fits 32 bits. */
  expires = NO_NUMBERS;
  /** Level code and role in one byte: see `roleTag` and `levelsOfTag`. */
  tags = NO_BYTES;
  prefixes = NO_BYTES;
  words = NO_WORDS;

  constructor(width: number) {
    this.width = width;
  }

  /** Adds a rule and returns its row; the caller writes the address. */
  add(id: number, role: RuleRole, prefix: number, expires: number, levels: number): number {
    // What is added to a read later is little.
    if (this.length === this.ids.length) this.#resize(this.length + (this.#isFilled ? this.length >> 4 : this.length) + FIRST_CAPACITY);
    const row = this.length++;
    this.ids[row] = id;
    this.#setExpiry(row, expires);
    this.tags[row] = levels | roleTag(role);
    this.prefixes[row] = prefix;
    return row;
  }

  /** Rows that were removed. */
  get removed(): number {
    return this.removals.length;
  }

  /** Gives back the memory beyond the last row, but for a little of a long table: the first row to come must not move all others. */
  trim(): void {
    this.#isFilled = true;
    const capacity = this.length + (this.length >> ROOM_SHIFT);
    if (capacity < this.ids.length) this.#resize(capacity);
  }

  /** Gives a rule another expiry, whole seconds, 0 = never. */
  renew(row: number, expires: number): void {
    this.#setExpiry(row, expires);
    this.renewed += 1;
  }

  /** Whether a rule may expire at `second` or before; false is certain. */
  mayExpire(second: number): boolean {
    return this.#expireFrom <= second;
  }

  /** Removes the rules with these ids, and those that have expired at `now` (whole seconds; 0: none has). */
  remove(ids: ReadonlySet<number>, now: number): void {
    // What changes is mostly new.
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

  /** Adds all rules of a table of the same width. */
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

  /** The same rules without the rows of removed ones. */
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

/** Rules by the family of their networks, and those on countries and ASNs. */
export interface RuleTables {
  v4: RuleTable;
  v6: RuleTable;
  geo: RuleTable;
  /** The target of each row of `geo`. */
  geoTargets: GeoTarget[];
}

/** The bits of a tag that hold the role: compare with `tag & ROLE_MASK`. */
export const roleTag = (role: RuleRole): number => RULE_ROLES.indexOf(role) << LEVEL_BITS;
export const ROLE_MASK = 0xff & ~LEVEL_MASK;
/** The action of the rule with this tag. */
export const actionOfTag = (tag: number): AccessAction => ((tag & ROLE_MASK) === roleTag('block') ? 'block' : 'allow');
/** The level code of a tag. */
export const levelsOfTag = (tag: number): number => tag & LEVEL_MASK;

function resized<T extends Float64Array | Uint32Array | Uint8Array>(column: T, length: number): T {
  const wider = new (column.constructor as new (length: number) => T)(length);
  wider.set(column.length > length ? column.subarray(0, length) : column);
  return wider;
}
