/** The rules that a list has, known by what identifies each, in about 60 bytes a rule: a list may have two million. */
import { hash, randomUUID } from 'node:crypto';

/** What is compared of a rule besides its expiry. */
export const COMPARED = ['reason', 'labels', 'config', 'name'] as const;
export type Compared = (typeof COMPARED)[number];

export interface PresentRule {
  /** 0: a rule that is not stored yet. */
  readonly id: number;
  /** ms since 1970; 0: never. */
  readonly expiresAt: number;
  /** Whether it has a `rule_ref`. */
  readonly hasRef: boolean;
  readonly isAllow: boolean;
  /** `digest` of each of COMPARED. */
  readonly digests: readonly number[];
}

const FLAG = { ref: 1, allow: 2, wanted: 4 } as const;
const FIRST = 1024;

export class PresentRules {
  // Unknown to whoever writes lists, so that nobody can make two rules look like one.
  readonly #salt = randomUUID();
  #size = 0;
  #slots = new Int32Array(2 * FIRST);
  #keys = new Uint32Array(3 * FIRST);
  #ids = new Float64Array(FIRST);
  #expiries = new Float64Array(FIRST);
  #digests = new Int32Array(COMPARED.length * FIRST);
  #flags = new Uint8Array(FIRST);

  get size(): number {
    return this.#size;
  }

  /** The place of a rule; -1 where there is none of this identity. */
  find(identity: string): number {
    return this.#find(this.#keyOf(identity));
  }

  /** Adds a rule whose identity is not there; returns its place. */
  add(identity: string, rule: PresentRule): number {
    if (this.#size === this.#ids.length) this.#grow();
    const at = this.#size++;
    this.#keys.set(this.#keyOf(identity), 3 * at);
    this.#insert(at);
    this.set(at, rule);
    return at;
  }

  set(at: number, { id, expiresAt, hasRef, isAllow, digests }: PresentRule): void {
    this.#ids[at] = id;
    this.#expiries[at] = expiresAt;
    this.#digests.set(digests, COMPARED.length * at);
    this.#flags[at] = (this.#flags[at] & FLAG.wanted) | (hasRef ? FLAG.ref : 0) | (isAllow ? FLAG.allow : 0);
  }

  get(at: number): PresentRule {
    const flags = this.#flags[at];
    return {
      id: this.#ids[at],
      expiresAt: this.#expiries[at],
      hasRef: (flags & FLAG.ref) > 0,
      isAllow: (flags & FLAG.allow) > 0,
      digests: [...this.#digests.subarray(COMPARED.length * at, COMPARED.length * (at + 1))],
    };
  }

  want(at: number): void {
    this.#flags[at] |= FLAG.wanted;
  }

  isWanted(at: number): boolean {
    return (this.#flags[at] & FLAG.wanted) > 0;
  }

  #keyOf(identity: string): Uint32Array {
    const bytes = hash('sha256', this.#salt + identity, 'buffer');
    return Uint32Array.of(bytes.readUInt32LE(0), bytes.readUInt32LE(4), bytes.readUInt32LE(8));
  }

  #find(key: Uint32Array): number {
    const mask = this.#slots.length - 1;
    for (let slot = key[0] & mask; ; slot = (slot + 1) & mask) {
      const at = this.#slots[slot] - 1;
      if (at < 0) return -1;
      if (this.#keys[3 * at] === key[0] && this.#keys[3 * at + 1] === key[1] && this.#keys[3 * at + 2] === key[2]) return at;
    }
  }

  #insert(at: number): void {
    const mask = this.#slots.length - 1;
    let slot = this.#keys[3 * at] & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = at + 1;
  }

  #grow(): void {
    const size = 2 * this.#ids.length;
    this.#keys = into(new Uint32Array(3 * size), this.#keys);
    this.#ids = into(new Float64Array(size), this.#ids);
    this.#expiries = into(new Float64Array(size), this.#expiries);
    this.#digests = into(new Int32Array(COMPARED.length * size), this.#digests);
    this.#flags = into(new Uint8Array(size), this.#flags);
    this.#slots = new Int32Array(2 * size);
    for (let at = 0; at < this.#size; at += 1) this.#insert(at);
  }
}

function into<T extends { set(from: T): void }>(larger: T, from: T): T {
  larger.set(from);
  return larger;
}

/** A number that tells values apart, whatever the order of their fields; 0 for none. */
export function digest(value: unknown): number {
  if (value === null || value === undefined) return 0;
  const text = typeof value === 'string' ? value : JSON.stringify(ordered(value));
  return text === '{}' ? 0 : Buffer.from(hash('sha256', text, 'buffer')).readInt32LE(0) || 1;
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, each]) => [name, ordered(each)]),
  );
}
