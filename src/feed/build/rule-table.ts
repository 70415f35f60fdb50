import { type AccessAction, RULE_ROLES, type RuleRole } from '../../rule.ts';

const LEVEL_BITS = 5;
const LEVEL_MASK = (1 << LEVEL_BITS) - 1;
const FIRST_CAPACITY = 64;
/** The tag of a row that was taken out: it has no role. */
const REMOVED = 0xff;

/**
 * The rules of a snapshot whose targets are of one kind, as columns of numbers: a million rules must not be a million objects.
 * A rule is a row of 18 bytes, and of `width` 32-bit words in `words` for its address.
 */
export class RuleTable {
  readonly width: number;
  length = 0;
  ids = new Float64Array(FIRST_CAPACITY);
  /** Whole seconds, 0 = never. Expiries lie a century ahead and more: beyond 2106 a second no longer fits 32 bits. */
  expires = new Float64Array(FIRST_CAPACITY);
  /** Level code and role in one byte: see `roleTag` and `levelsOfTag`. */
  tags = new Uint8Array(FIRST_CAPACITY);
  prefixes = new Uint8Array(FIRST_CAPACITY);
  words: Uint32Array;

  constructor(width: number) {
    this.width = width;
    this.words = new Uint32Array(FIRST_CAPACITY * width);
  }

  /** Adds a rule and returns its row; the caller writes the address. */
  add(id: number, role: RuleRole, prefix: number, expires: number, levels: number): number {
    if (this.length === this.ids.length) this.#resize(Math.max(this.length * 2, FIRST_CAPACITY));
    const row = this.length++;
    this.ids[row] = id;
    this.expires[row] = expires;
    this.tags[row] = levels | roleTag(role);
    this.prefixes[row] = prefix;
    return row;
  }

  /** Takes the rules of these ids out. */
  remove(ids: ReadonlySet<number>): void {
    for (let row = 0; row < this.length; row++) if (ids.has(this.ids[row])) this.tags[row] = REMOVED;
  }

  /** Gives back the memory beyond the last row. */
  trim(): void {
    this.#resize(this.length);
  }

  #resize(capacity: number): void {
    this.ids = resized(this.ids, capacity);
    this.expires = resized(this.expires, capacity);
    this.tags = resized(this.tags, capacity);
    this.prefixes = resized(this.prefixes, capacity);
    this.words = resized(this.words, capacity * this.width);
  }
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
