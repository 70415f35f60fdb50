/**
 * What the bouncers of a feed were told, and what has changed since (SPEC D14.3 to D14.7). A bouncer holds a network until it is told that
 * it is gone, or until the instant that it was told with it has passed; what it holds already it does not take again. So everything that
 * any bouncer may hold is known here, for all of them together.
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

/** How long it is known that a network is gone, s, and of how many at most. */
const KEPT = 7 * 86_400;
const MOST_GONE = 131_072;
/** How much is written behind the whole before the whole is written anew, bytes. */
const COMPACT_AT = 1 << 20;

const UNNOTICED = 1; // s, by which a clock goes back
const NOT_AHEAD = { by: 0, through: Number.POSITIVE_INFINITY };

/** What has changed for a bouncer: places among the networks, and networks that are gone. */
export interface LogChanges {
  readonly changed: Iterable<number>;
  readonly gone: Iterable<DecisionKey>;
}

/** What is to be written, and whether it replaces all that was written before. */
export interface LogRecord {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isComplete: boolean;
  /** What has changed since the last record. */
  readonly change: Uint8Array;
}

const NOTHING: PublishedNetworks = { ...networksOf([]), until: new Float64Array(), lists: new Int32Array(), names: [] };

export class DecisionLog {
  readonly #builder: string;
  readonly #versions = new LogVersions();
  #networks = NOTHING;
  /** When each of them is told again if it stays for longer than was told, whole seconds. */
  #again = new Float64Array();
  /** The earliest instant at which one of them goes or is told again, whole seconds. */
  #earliest = Number.POSITIVE_INFINITY;
  /** When networks went that some bouncer may hold, oldest first, whole seconds. */
  #gone = new Map<DecisionKey, number>();
  /** Earlier instants until which some bouncers hold a network: it is told again then. */
  readonly #dues = new ReannounceQueue();
  /** What was changed and is not written yet. */
  #unwritten = new LogWriter();
  /** Whether something could not be written, so that only the whole tells it, and when (whole seconds) that is tried again. */
  #lacksRecord = false;
  #noteAgain = 0;
  #writtenBytes = 0;
  #wholeBytes = 0;
  /** The time as it was noted last, whole seconds. */
  #latest = Number.NEGATIVE_INFINITY;
  /** By how much longer than what is held here some bouncers may hold a network, s, and through which second. */
  #ahead = NOT_AHEAD;

  /** `builder` names this object among those before a restart and of other processes. */
  constructor(builder: string) {
    this.#builder = builder;
  }

  get mark(): DecisionMark {
    return { builder: this.#builder, version: this.#versions.version };
  }

  /** How many networks are held: those that bouncers are told, and what is known of earlier ones. */
  get size(): number {
    return this.#networks.until.length + this.#gone.size + this.#versions.size;
  }

  get networks(): PublishedNetworks {
    return this.#networks;
  }

  /** Whole seconds: when a network has to be told again, and the version moves, or something has to be noted, though nothing else changes. */
  get nextDue(): number {
    return Math.min(this.#earliest, this.#dues.next, this.#lacksRecord ? this.#noteAgain : Number.POSITIVE_INFINITY);
  }

  /** Takes in what the store holds from before the start: bouncers may hold all of it. `now` in ms. */
  restore(records: Iterable<Uint8Array>, now: number): void {
    const { networks, gone, dues, bytes } = restoreLog(records, secondOf(now));
    this.#writtenBytes += bytes;
    this.#networks = networks;
    this.#gone = gone;
    for (const [second, key] of dues) this.#dues.add(second, key);
    // When it was told is not known.
    this.#again = this.#networks.until.map((until) => renewAt(until));
    for (const again of this.#again) this.#earliest = Math.min(this.#earliest, again);
  }

  /** Takes in what another process has told the same bouncers, before what they are told now is taken. `now` in ms. */
  join(records: Iterable<Uint8Array>, now: number): void {
    const second = secondOf(now);
    const gone: DecisionKey[] = [];
    for (const record of records) {
      for (const { key, isGone, second: until } of readLog(record)) {
        const at = this.#find(key);
        if (at === undefined) {
          if (!isGone) gone.push(key);
          if (!isGone || !this.#gone.has(key)) this.#goes(key, second);
        } else if (isGone) {
          // Who was told so there is told here that it holds, where it does.
          this.#dues.add(second, key);
        } else if (until > second && this.#networks.until[at] !== until) {
          for (const due of [Math.max(renewAt(until), second + 1), until]) this.#dues.add(due, key);
        }
      }
    }
    this.#move(gone);
  }

  /** Makes these the networks that bouncers are told, with the names of their lists where they are told of these. `now` in ms. */
  take({ v4, v6, coverage: { lapses, lists } }: DecisionNetworks, now: number, names: readonly string[] = []): void {
    const second = secondOf(now);
    this.passed(now);
    const before = this.#networks;
    const networks: PublishedNetworks = { v4, v6, until: new Float64Array(v4.length + v6.length), lists, names };
    const isNamed = before.names.length + names.length > 0;
    const isSame = (from: number, to: number) =>
      isNamed ? nameAt(before, from) === nameAt(networks, to) : before.lists[from] === lists[to];
    const again = new Float64Array(networks.until.length);
    const touched: DecisionKey[] = [];
    const tell = (index: number, key = decisionKeyAt(networks, index)) => {
      networks.until[index] = leaseUntil(lapses[index], key, second);
      again[index] = renewAt(networks.until[index], second);
      this.#unwritten.add(key, false, networks.until[index]);
      return key;
    };
    const added = (index: number) => {
      const key = tell(index);
      this.#gone.delete(key);
      touched.push(key);
    };
    const removed = (index: number) => {
      const key = decisionKeyAt(before, index);
      this.#goes(key, second);
      this.#unwritten.add(key, true, second);
      touched.push(key);
    };
    const stays = (from: number, to: number) => {
      const until = before.until[from];
      if (until <= second) {
        touched.push(tell(to));
        if (until + this.#ahead.by > second) this.#dues.add(until + this.#ahead.by, decisionKeyAt(networks, to));
      } else if (lapses[to] < until) {
        this.#dues.add(until, tell(to));
      } else if (lapses[to] > until && this.#again[from] <= second) {
        touched.push(tell(to));
        // Clients that do not take again what they hold let it go then.
        for (const due of [until, until + this.#ahead.by]) this.#dues.add(due, decisionKeyAt(networks, to));
      } else {
        networks.until[to] = until;
        again[to] = this.#again[from];
      }
      // Who wants some scenarios only may have to be told.
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
        // Under its old name first: clients hold a set for each.
        removed(from);
        added(at);
        next = from + 1;
      } else {
        next = from + 1;
        const until = before.until[from];
        // Almost all stay as they are.
        const isPublished = until > second && (lapses[at] === until || (lapses[at] > until && this.#again[from] > second));
        if (isPublished && isSame(from, at)) {
          networks.until[at] = until;
          again[at] = this.#again[from];
        } else {
          stays(from, at);
        }
      }
      const due = lapses[at] > networks.until[at] ? again[at] : networks.until[at];
      if (due < earliest) earliest = due;
    }
    while (next < before.until.length) removed(next++);
    this.#earliest = earliest;
    this.#networks = networks;
    this.#again = again;
    for (const key of this.#dues.taken(second)) if (this.#find(key) !== undefined) touched.push(key);
    this.#forgetGone(second);
    this.#move(touched);
  }

  /**
   * Notes the time, ms. Where it was later before, that was wrong, and what was told with it ends as much earlier as it was wrong by: it counts
   * as told until then (SPEC D37.1).
   */
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
    this.#dues.earlier(by, MOST_GONE + this.#networks.until.length);
    [this.#earliest, this.#lacksRecord] = [second, true];
  }

  /** What has changed since a version (null: everything that holds, and all that is gone). */
  since(mark: DecisionMark | null): LogChanges {
    const keys = mark?.builder === this.#builder ? this.#versions.since(mark.version) : undefined;
    if (keys === undefined) return { changed: this.#networks.until.keys(), gone: this.#gone.keys() };
    const changed = new Set<number>();
    const gone: DecisionKey[] = [];
    for (const key of keys) {
      const at = placeOf(this.#networks, networkOf(key));
      // Where it is held under another name it is told so in the same answer: some clients hold a network without one.
      if (at !== undefined) changed.add(at);
      if (at === undefined || nameAt(this.#networks, at) !== nameOf(key)) gone.push(key);
    }
    return { changed, gone };
  }

  /**
   * What has to be in the store before anybody is told of it; undefined when nothing has. It counts as written, unless `notWritten` is
   * called.
   */
  takeRecord(): LogRecord | undefined {
    const { length } = this.#unwritten;
    if (length === 0 && !this.#lacksRecord) return undefined;
    const isComplete = this.#lacksRecord || this.#writtenBytes + length > COMPACT_AT + 2 * this.#wholeBytes;
    const change = this.#unwritten.end();
    const bytes = isComplete ? this.#whole() : change;
    this.#unwritten = new LogWriter();
    this.#lacksRecord = false;
    this.#writtenBytes = isComplete ? bytes.length : this.#writtenBytes + bytes.length;
    if (isComplete) this.#wholeBytes = bytes.length;
    return { bytes, isComplete, change };
  }

  /** A record did not get into the store: the next one is whole, and what it would have noted is told for a short time only. `now` in ms. */
  notWritten({ change }: Pick<LogRecord, 'change'>, now: number): void {
    const second = secondOf(now);
    [this.#lacksRecord, this.#noteAgain] = [true, second + RECORD_RETRY];
    const latest = second + LONGEST_UNRECORDED_LEASE;
    for (const { key, isGone } of readLog(change)) {
      const at = isGone ? undefined : this.#find(key);
      if (at === undefined || this.#networks.until[at] <= latest) continue;
      this.#networks.until[at] = latest;
      this.#again[at] = renewAt(latest, second);
      this.#earliest = Math.min(this.#earliest, this.#again[at]);
    }
  }

  #whole(): Uint8Array<ArrayBuffer> {
    const all = new LogWriter();
    for (const [key, second] of this.#gone) all.add(key, true, second);
    for (const [due, key] of this.#dues) if (this.#find(key) !== undefined) all.add(key, false, due);
    for (const [i, until] of this.#networks.until.entries()) all.add(decisionKeyAt(this.#networks, i), false, until);
    return all.end();
  }

  #goes(key: DecisionKey, second: number): void {
    this.#gone.delete(key);
    this.#gone.set(key, second);
  }

  #forgetGone(second: number): void {
    for (const [key, at] of this.#gone) {
      if (at > second - KEPT && this.#gone.size <= MOST_GONE) return;
      this.#gone.delete(key);
    }
  }

  #move(touched: readonly DecisionKey[]): void {
    this.#versions.move(touched, this.#networks.until.length + this.#gone.size);
  }

  /** The place of a network that is told with this very name. */
  #find(key: DecisionKey): number | undefined {
    const at = placeOf(this.#networks, networkOf(key));
    return at === undefined || nameAt(this.#networks, at) !== nameOf(key) ? undefined : at;
  }
}
