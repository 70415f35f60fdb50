/**
 * The networks published to a feed's bouncers, and the changes since (SPEC D14.3 to D14.7). A bouncer keeps a network until weir deletes it
 * or its lease ends; it ignores repeated announcements. One log covers everything that any bouncer may still enforce.
 */
import { secondOf } from '../../clock.ts';
import type { DecisionMark } from '../decisions.ts';
import type { DecisionNetworks } from './covered-networks.ts';
import { LogWriter, readLog } from './decision-log-codec.ts';
import { LONGEST_LEASE, LONGEST_UNRECORDED_LEASE, leaseUntil, RECORD_RETRY, renewAt } from './lease.ts';
import { LogVersions } from './log-versions.ts';
import { type DecisionKey, nameOf, networkOf, networksOf } from './network-key.ts';
import { decisionKeyAt, nameAt, type PublishedNetworks } from './published-networks.ts';
import { ReannounceQueue } from './reannounce-queue.ts';
import { restoreLog } from './restored-log.ts';
import { placeOf, placesIn } from './sorted-networks.ts';

/** How long deletions are remembered, s, and how many at most. */
const DELETION_RETENTION = 7 * 86_400;
const MOST_DELETED = 131_072;
/** Bytes of appended changes; then the whole log is written again. */
const COMPACT_AT = 1 << 20;

const UNNOTICED = 1; // s; smaller steps back of the clock are ignored
const NOT_AHEAD = { by: 0, through: Number.POSITIVE_INFINITY };

/** Indexes of published networks, and keys of deleted ones. */
export interface LogChanges {
  readonly isEverything: boolean;
  readonly changed: Iterable<number>;
  readonly deleted: Iterable<DecisionKey>;
}

/** Whether they replace all earlier records. */
export interface LogRecord {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isComplete: boolean;
  /** The changes since the last record. */
  readonly change: Uint8Array;
}

const NOTHING: PublishedNetworks = { ...networksOf([]), until: new Float64Array(), lists: new Int32Array(), names: [] };

export class DecisionLog {
  readonly #builder: string;
  readonly #versions = new LogVersions();
  #networks = NOTHING;
  /** When a network is announced again if it outlives its lease, whole seconds. */
  #again = new Float64Array();
  /** When the first network expires or must be announced again, seconds. */
  #earliest = Number.POSITIVE_INFINITY;
  /** When networks were deleted that some bouncer may still enforce; oldest first, whole seconds. */
  #deleted = new Map<DecisionKey, number>();
  /** Earlier lease ends of some bouncers: the network is announced again then. */
  readonly #reannounce = new ReannounceQueue();
  #unwritten = new LogWriter();
  /** A write failed, so the next record must be complete; when to retry (whole seconds). */
  #lacksRecord = false;
  #retryAt = 0;
  #writtenBytes = 0;
  #completeBytes = 0;
  /** The last recorded time, whole seconds. */
  #latest = Number.NEGATIVE_INFINITY;
  /** How far some bouncers' leases exceed those recorded here, s, and through which second. */
  #ahead = NOT_AHEAD;

  /** `builder`: other logs, before a restart and of other processes, have another. */
  constructor(builder: string) {
    this.#builder = builder;
  }

  get mark(): DecisionMark {
    return { builder: this.#builder, version: this.#versions.version };
  }

  /** Networks in memory: published, deleted, and in the change history. */
  get size(): number {
    return this.#networks.until.length + this.#deleted.size + this.#versions.size;
  }

  get networks(): PublishedNetworks {
    return this.#networks;
  }

  /** Next announcement, expiry or retried write, whole seconds, although no content changes. */
  get nextDue(): number {
    return Math.min(this.#earliest, this.#reannounce.next, this.#lacksRecord ? this.#retryAt : Number.POSITIVE_INFINITY);
  }

  /** At start-up: bouncers may enforce all of it. `now` in ms. */
  restore(records: Iterable<Uint8Array>, now: number): void {
    const { networks, deleted, reannounce, bytes } = restoreLog(records, secondOf(now));
    this.#writtenBytes += bytes;
    this.#networks = networks;
    this.#deleted = deleted;
    for (const [second, key] of reannounce) this.#reannounce.add(second, key);
    // The announcement times are unknown.
    this.#again = this.#networks.until.map((until) => renewAt(until));
    for (const again of this.#again) this.#earliest = Math.min(this.#earliest, again);
  }

  /** Merges what another process has announced to the same bouncers. Call before `take`. `now` in ms. */
  join(records: Iterable<Uint8Array>, now: number): void {
    const second = secondOf(now);
    const deleted: DecisionKey[] = [];
    for (const record of records) {
      // The last entry of a key is its lease. Renewing earlier ones, too, would multiply them with each exchange.
      const leases = new Map([...readLog(record)].map(({ key, second: until }) => [key, until]));
      for (const { key, isDeleted, second: until } of readLog(record)) {
        const at = this.#find(key);
        if (at === undefined) {
          if (!isDeleted) deleted.push(key);
          if (!isDeleted || !this.#deleted.has(key)) this.#markDeleted(key, second);
        } else if (isDeleted) {
          // The other process announced its deletion, so announce it again.
          this.#reannounce.add(second, key);
        } else if (until > second && this.#networks.until[at] !== until) {
          if (leases.get(key) === until) this.#reannounce.add(Math.max(renewAt(until), second + 1), key);
          this.#reannounce.add(until, key);
        }
      }
    }
    this.#move(deleted);
  }

  /** Publishes networks, with list names if the feed announces lists. `now` in ms. */
  take({ v4, v6, coverage: { expires, lists } }: DecisionNetworks, now: number, names: readonly string[] = []): void {
    const second = secondOf(now);
    this.passed(now);
    const before = this.#networks;
    const networks: PublishedNetworks = { v4, v6, until: new Float64Array(v4.length + v6.length), lists, names };
    const isNamed = before.names.length + names.length > 0;
    const isSame = (from: number, to: number) =>
      isNamed ? nameAt(before, from) === nameAt(networks, to) : before.lists[from] === lists[to];
    const again = new Float64Array(networks.until.length);
    const touched: DecisionKey[] = [];
    const announce = (index: number, key = decisionKeyAt(networks, index)) => {
      networks.until[index] = leaseUntil(expires[index], key, second);
      again[index] = renewAt(networks.until[index], second);
      this.#unwritten.add(key, false, networks.until[index]);
      return key;
    };
    const added = (index: number) => {
      const key = announce(index);
      this.#deleted.delete(key);
      touched.push(key);
    };
    const removed = (index: number) => {
      const key = decisionKeyAt(before, index);
      this.#markDeleted(key, second);
      this.#unwritten.add(key, true, second);
      touched.push(key);
    };
    const stays = (from: number, to: number) => {
      const until = before.until[from];
      if (until <= second) {
        touched.push(announce(to));
        if (until + this.#ahead.by > second) this.#reannounce.add(until + this.#ahead.by, decisionKeyAt(networks, to));
      } else if (expires[to] < until) {
        this.#reannounce.add(until, announce(to));
      } else if (expires[to] > until && this.#again[from] <= second) {
        touched.push(announce(to));
        // Clients that ignore repeated announcements drop the network at their lease end.
        for (const due of [until, until + this.#ahead.by]) this.#reannounce.add(due, decisionKeyAt(networks, to));
      } else {
        networks.until[to] = until;
        again[to] = this.#again[from];
      }
      // Clients that filter by scenario may need it now.
      if (before.lists[from] !== 0 && !isSame(from, to) && until > second) touched.push(decisionKeyAt(networks, to));
    };
    const places = placesIn(before, networks);
    let next = 0;
    let earliest = Number.POSITIVE_INFINITY;
    for (let at = 0; at < places.length; at++) {
      const from = places[at];
      while (next < from) removed(next++);
      if (from < 0) {
        added(at);
      } else if (isNamed && !isSame(from, at)) {
        // Delete under the old name first: clients keep one set per name.
        removed(from);
        added(at);
        next = from + 1;
      } else {
        next = from + 1;
        const until = before.until[from];
        // Fast path: almost all networks are unchanged.
        const isPublished = until > second && (expires[at] === until || (expires[at] > until && this.#again[from] > second));
        if (isPublished && isSame(from, at)) {
          networks.until[at] = until;
          again[at] = this.#again[from];
        } else {
          stays(from, at);
        }
      }
      const due = expires[at] > networks.until[at] ? again[at] : networks.until[at];
      if (due < earliest) earliest = due;
    }
    while (next < before.until.length) removed(next++);
    this.#earliest = earliest;
    this.#networks = networks;
    this.#again = again;
    for (const key of this.#reannounce.takeDue(second)) if (this.#find(key) !== undefined) touched.push(key);
    this.#forgetDeleted(second);
    this.#move(touched);
  }

  /** `now` in ms. If the clock stepped back, leases announced with the wrong time end earlier by as much (SPEC D37.1). */
  passed(now: number): void {
    const second = secondOf(now);
    const by = this.#latest - second;
    this.#latest = second;
    if (this.#ahead.through <= second) this.#ahead = NOT_AHEAD;
    if (by <= UNNOTICED || this.#networks.until.length === 0) return;
    this.#ahead = { by: this.#ahead.by + by, through: second + by + 2 * LONGEST_LEASE };
    for (const [at, until] of this.#networks.until.entries()) {
      this.#networks.until[at] = until - by;
      this.#again[at] = renewAt(until - by, second);
    }
    this.#reannounce.earlier(by, MOST_DELETED + this.#networks.until.length);
    [this.#earliest, this.#lacksRecord] = [second, true];
  }

  /** `mark` null: everything published and everything deleted. */
  since(mark: DecisionMark | null): LogChanges {
    const keys = mark?.builder === this.#builder ? this.#versions.since(mark.version) : undefined;
    if (keys === undefined) return { isEverything: true, changed: this.#networks.until.keys(), deleted: this.#deleted.keys() };
    const changed = new Set<number>();
    const deleted: DecisionKey[] = [];
    for (const key of keys) {
      const at = placeOf(this.#networks, networkOf(key));
      // A network that moved to another list is announced in the same response: some clients key networks without the name.
      if (at !== undefined) changed.add(at);
      if (at === undefined || nameAt(this.#networks, at) !== nameOf(key)) deleted.push(key);
    }
    return { isEverything: false, changed, deleted };
  }

  /** The record to store before bouncers see the changes; undefined: nothing. Counts as written unless `notWritten` is called. */
  takeRecord(): LogRecord | undefined {
    const { length } = this.#unwritten;
    if (length === 0 && !this.#lacksRecord) return undefined;
    const isComplete = this.#lacksRecord || this.#writtenBytes + length > COMPACT_AT + 2 * this.#completeBytes;
    const change = this.#unwritten.end();
    const bytes = isComplete ? this.#complete() : change;
    this.#unwritten = new LogWriter();
    this.#lacksRecord = false;
    this.#writtenBytes = isComplete ? bytes.length : this.#writtenBytes + bytes.length;
    if (isComplete) this.#completeBytes = bytes.length;
    return { bytes, isComplete, change };
  }

  /** The next record is complete, and the unrecorded leases are short. `now` in ms. */
  notWritten({ change }: Pick<LogRecord, 'change'>, now: number): void {
    const second = secondOf(now);
    [this.#lacksRecord, this.#retryAt] = [true, second + RECORD_RETRY];
    const latest = second + LONGEST_UNRECORDED_LEASE;
    for (const { key, isDeleted } of readLog(change)) {
      const at = isDeleted ? undefined : this.#find(key);
      if (at === undefined || this.#networks.until[at] <= latest) continue;
      this.#networks.until[at] = latest;
      this.#again[at] = renewAt(latest, second);
      this.#earliest = Math.min(this.#earliest, this.#again[at]);
    }
  }

  #complete(): Uint8Array<ArrayBuffer> {
    const all = new LogWriter();
    for (const [key, second] of this.#deleted) all.add(key, true, second);
    for (const [due, key] of this.#reannounce) if (this.#find(key) !== undefined) all.add(key, false, due);
    for (const [i, until] of this.#networks.until.entries()) all.add(decisionKeyAt(this.#networks, i), false, until);
    return all.end();
  }

  #markDeleted(key: DecisionKey, second: number): void {
    this.#deleted.delete(key);
    this.#deleted.set(key, second);
  }

  #forgetDeleted(second: number): void {
    for (const [key, at] of this.#deleted) {
      if (at > second - DELETION_RETENTION && this.#deleted.size <= MOST_DELETED) return;
      this.#deleted.delete(key);
    }
  }

  #move(touched: readonly DecisionKey[]): void {
    this.#versions.move(touched, this.#networks.until.length + this.#deleted.size);
  }

  /** The network published under this very name. */
  #find(key: DecisionKey): number | undefined {
    const at = placeOf(this.#networks, networkOf(key));
    return at === undefined || nameAt(this.#networks, at) !== nameOf(key) ? undefined : at;
  }
}
