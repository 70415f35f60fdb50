/** By identity, about 60 bytes each: a list can have two million rules. */
import { hash, randomInt, randomUUID } from 'node:crypto';
import type { StoreReads } from '../ports/store.ts';
import type { ComparedRule } from '../ports/stored/stored-rule.ts';
import type { Target } from '../rule.ts';
import { formatTarget } from '../signal/target.ts';

/** Compared besides the expiry. */
export const COMPARED = ['reason', 'labels', 'config', 'name'] as const;
export type Compared = (typeof COMPARED)[number];

/** Rules are equal if their `rule_ref`, or else action and target, are equal. */
export interface Identity {
  readonly action: string;
  readonly target: Target;
  readonly ruleRef?: string | null | undefined;
}

export interface CurrentRule {
  readonly id: number;
  readonly expiresAt: number;
  readonly hasRef: boolean;
  readonly isAllow: boolean;
}

/** Rules per turn: two milliseconds. */
const READ = 1000;
const FLAG = { ref: 1, allow: 2, wanted: 4 } as const;
const FIRST = 1024;
const MOST_KNOWN = 1000;

export class CurrentRules {
  // Unknown to list authors: prevents deliberate digest collisions and crowded slots.
  readonly #salt = randomUUID();
  readonly #seeds = [0, 0].map(() => randomInt(2 ** 32));
  /** Many rules share values. */
  readonly #known = new Map<string, number>();
  readonly #key = new Uint32Array(3);
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

  find(identity: Identity): number {
    return this.#find(this.#keyOf(identity));
  }

  /** With a digest per COMPARED field; returns its index. */
  add(identity: Identity, rule: CurrentRule, digests: readonly number[]): number {
    if (this.#size === this.#ids.length) this.#grow();
    const at = this.#size++;
    this.#keys.set(this.#keyOf(identity), 3 * at);
    this.#insert(at);
    this.set(at, rule, digests);
    return at;
  }

  set(at: number, { id, expiresAt, hasRef, isAllow }: CurrentRule, digests: readonly number[]): void {
    this.#ids[at] = id;
    this.#expiries[at] = expiresAt;
    this.#digests.set(digests, COMPARED.length * at);
    this.#flags[at] = (this.#flags[at] & FLAG.wanted) | (hasRef ? FLAG.ref : 0) | (isAllow ? FLAG.allow : 0);
  }

  get(at: number): CurrentRule {
    const flags = this.#flags[at];
    return {
      id: this.#ids[at],
      expiresAt: this.#expiries[at],
      hasRef: (flags & FLAG.ref) > 0,
      isAllow: (flags & FLAG.allow) > 0,
    };
  }

  digestAt(at: number, compared: number): number {
    return this.#digests[COMPARED.length * at + compared];
  }

  /** Independent of field order; 0 for no value. */
  digest(value: unknown): number {
    if (value === null || value === undefined) return 0;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    if (this.#known.size === MOST_KNOWN) this.#known.clear();
    const found = digestOf(typeof value === 'string' ? value : JSON.stringify(ordered(value)));
    this.#known.set(text, found);
    return found;
  }

  want(at: number, isWanted = true): void {
    this.#flags[at] = (this.#flags[at] & ~FLAG.wanted) | (isWanted ? FLAG.wanted : 0);
  }

  isWanted(at: number): boolean {
    return (this.#flags[at] & FLAG.wanted) > 0;
  }

  /** IPv4 networks are their own key, without hashing; other keys end in an odd number. */
  #keyOf({ action, target, ruleRef }: Identity): Uint32Array {
    const key = this.#key;
    if (!ruleRef && target.kind === 'ip' && target.network.family === 4) {
      key[0] = target.network.address;
      key[1] = 2 * target.network.prefix + (action === 'allow' ? 1 : 0);
      key[2] = 0;
      return key;
    }
    const text = ruleRef ? `ref ${ruleRef}` : `${action} ${formatTarget(target)}`;
    const bytes = hash('sha256', this.#salt + text, 'buffer');
    key[0] = bytes.readUInt32LE(0);
    key[1] = bytes.readUInt32LE(4);
    key[2] = bytes.readUInt32LE(8) | 1;
    return key;
  }

  #slotOf(first: number, second: number): number {
    let mixed = Math.imul(first ^ this.#seeds[0], 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 15) ^ second ^ this.#seeds[1], 0xc2b2ae35);
    return (mixed ^ (mixed >>> 13)) & (this.#slots.length - 1);
  }

  #find(key: Uint32Array): number {
    const mask = this.#slots.length - 1;
    for (let slot = this.#slotOf(key[0], key[1]); ; slot = (slot + 1) & mask) {
      const at = this.#slots[slot] - 1;
      if (at < 0) return -1;
      if (this.#keys[3 * at] === key[0] && this.#keys[3 * at + 1] === key[1] && this.#keys[3 * at + 2] === key[2]) return at;
    }
  }

  #insert(at: number): void {
    const mask = this.#slots.length - 1;
    let slot = this.#slotOf(this.#keys[3 * at], this.#keys[3 * at + 1]);
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

const digestOf = (text: string): number => (text === '{}' ? 0 : hash('sha256', text, 'buffer').readInt32LE(0) || 1);

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, each]) => [name, ordered(each)]),
  );
}

export async function* comparedPages(
  reads: Pick<StoreReads, 'comparedRules'>,
  workspaceId: string,
  listId: string,
  now: number,
  pause: () => Promise<void>,
): AsyncGenerator<ComparedRule[]> {
  for (let after = -1; ; ) {
    const rules = await reads.comparedRules(workspaceId, listId, { now, after, limit: READ });
    yield rules;
    if (rules.length < READ) return;
    after = rules[READ - 1]!.id;
    await pause();
  }
}
