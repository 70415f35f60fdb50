import type { LandingItem, PoisonRecord } from '../ports/rule-store.ts';
import type { StoreReads, StoreWrites } from '../ports/store.ts';
import type { Stream, StreamReader, StreamRecord } from '../ports/stream.ts';
import { decodeRecord } from '../signal/message.ts';

/** Records a landing transaction holds at most. */
const BATCH = 1000;
/** How long a read waits for a record, ms. */
const WAIT = 1000;
/** Landings of less than a full batch begin at least this far apart, ms: what trickles in shares a transaction, and its sync. */
const GATHER = 20;
/** How often the stream's identity and the owned partitions are looked at again, ms. */
const REVIEW = 1000;
/** Pauses after a fault, ms; a halt is looked at again after the longest, for a person may have ended it. */
const BACKOFF = { first: 100, most: 5000 };

/** What landing is doing: `halted` needs a person, and goes on when one has acted; `retrying` goes on by itself. */
export type LandingStatus = { readonly state: 'running' } | Fault;
interface Fault {
  readonly state: 'retrying' | 'halted';
  readonly reason: string;
}

export interface ConsumerOptions {
  readonly stream: Stream;
  readonly store: Pick<StoreReads, 'position' | 'positionStreams'> & Pick<StoreWrites, 'apply'>;
  readonly now: () => number;
  readonly log: (level: 'info' | 'warn' | 'error', message: string) => void;
}

export interface Consumer {
  status(): LandingStatus;
  /** Ends after the transaction that runs now. */
  close(): Promise<void>;
}

/** Landing cannot go on without a person: the log is not the one whose positions the store holds. */
class Halt extends Error {}

/**
 * Lands the stream in the store (spec 6): reads from the store's own position, writes rules and position in one fenced
 * transaction, keeps what cannot be understood as dead letters. Trouble with an engine is retried; a foreign log or a
 * position outside the log halts landing until a person has acted, and nothing is ever skipped.
 */
export function startConsumer({ stream, store, now, log }: ConsumerOptions): Consumer {
  const stop = new AbortController();
  const faults = new Map<string, Fault>();
  const done = supervise();

  async function supervise(): Promise<void> {
    await retrying('stream', async () => {
      const streamId = await identify(stream, store);
      const reader = await stream.join();
      const running = new Map<number, Promise<void>>();
      try {
        for (; !stop.signal.aborted; await pause(REVIEW)) {
          if (!(await isSame(streamId))) continue;
          for (const partition of reader.owned()) {
            if (running.has(partition)) continue;
            const work = retrying(nameOf(partition), () => landPartition(streamId, reader, partition));
            running.set(
              partition,
              work.finally(() => running.delete(partition)),
            );
          }
        }
      } finally {
        await reader.close();
        await Promise.all(running.values());
      }
    });
  }

  /** Whether this still is the stream that was joined; false also while that cannot be told, which leaves the group as it is. */
  async function isSame(streamId: string): Promise<boolean> {
    let present: string;
    try {
      present = await stream.id();
    } catch (error) {
      report('stream', { state: 'retrying', reason: (error as Error).message });
      return false;
    }
    if (present !== streamId) throw new Halt(replaced(streamId, present));
    clear('stream');
    return true;
  }

  async function landPartition(streamId: string, reader: StreamReader, partition: number): Promise<void> {
    const what = nameOf(partition);
    let rivals = false;
    while (!stop.signal.aborted && reader.owned().includes(partition)) {
      let from = (await store.position(streamId, partition)) ?? null;
      const { start, end } = await stream.bounds(partition);
      if (from !== null && (from < start || from > end)) throw new Halt(outside(partition, from, start, end));
      let at = from ?? start;
      let begun = Number.NEGATIVE_INFINITY;
      while (!stop.signal.aborted && reader.owned().includes(partition)) {
        const records = await reader.read(partition, at, BATCH, WAIT);
        const early = begun + GATHER - performance.now();
        if (records.length > 0 && records.length < BATCH && early > 0) {
          await pause(early);
          begun = Number.NEGATIVE_INFINITY;
          continue;
        }
        if (records.length > 0) {
          begun = performance.now();
          const to = records[records.length - 1].offset + 1;
          const result = await store.apply({ streamId, partition, from, to, ...understand(records), now: now() });
          if (result === 'fenced') {
            if (!rivals) log('warn', `${what} is landed by another consumer as well; reading its position again`);
            rivals = true;
            break;
          }
          from = to;
          at = to;
        }
        clear(what);
      }
    }
  }

  /** Runs `work` until it returns: again after a pause when it throws. After a Halt this only finds out whether a person has acted. */
  async function retrying(what: string, work: () => Promise<void>): Promise<void> {
    for (let wait = BACKOFF.first; !stop.signal.aborted; wait = Math.min(wait * 2, BACKOFF.most)) {
      const begun = performance.now();
      try {
        await work();
        clear(what);
        return;
      } catch (error) {
        const halted = error instanceof Halt;
        report(what, { state: halted ? 'halted' : 'retrying', reason: (error as Error).message });
        if (performance.now() - begun > BACKOFF.most) wait = BACKOFF.first;
        await pause(halted ? BACKOFF.most : wait);
      }
    }
  }

  /** Told once, however often it is met again. */
  function report(what: string, fault: Fault): void {
    const known = faults.get(what);
    faults.set(what, fault);
    if (known?.state === fault.state && known.reason === fault.reason) return;
    log('error', `landing ${fault.state === 'halted' ? 'has stopped' : 'is held up'} (${what}): ${fault.reason}`);
  }

  function clear(what: string): void {
    if (faults.delete(what)) log('info', `landing goes on (${what})`);
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        stop.signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      stop.signal.addEventListener('abort', end);
      if (stop.signal.aborted) end();
    });
  }

  return {
    status() {
      const all = [...faults.values()];
      return all.find((fault) => fault.state === 'halted') ?? all[0] ?? { state: 'running' };
    },
    async close() {
      stop.abort();
      await done;
    },
  };
}

const nameOf = (partition: number) => `partition ${partition}`;

/** Decodes what was read: items to land, and poison with its reason. */
export function understand(records: readonly StreamRecord[]): { items: LandingItem[]; poison: PoisonRecord[] } {
  const items: LandingItem[] = [];
  const poison: PoisonRecord[] = [];
  for (const record of records) {
    const decoded = decodeRecord(record);
    if ('poison' in decoded) poison.push({ record, reason: decoded.poison });
    else items.push({ record, ...decoded });
  }
  return { items, poison };
}

async function identify(stream: Stream, store: ConsumerOptions['store']): Promise<string> {
  const [streamId, known] = [await stream.id(), await store.positionStreams()];
  if (known.length > 0 && !known.includes(streamId)) throw new Halt(replaced(known.join(', '), streamId));
  return streamId;
}

const ADVICE = 'Bring the old stream back, or, when its unlanded messages are given up, run: weir stream adopt';

function replaced(known: string, present: string): string {
  return `the store has landed the stream ${known}, but the stream here is ${present}: it was deleted and made anew, or the settings point elsewhere. ${ADVICE}`;
}

function outside(partition: number, position: number, start: number, end: number): string {
  return `the store's position ${position} of partition ${partition} lies outside the stream, which holds ${start} to ${end}: messages are missing. ${ADVICE}`;
}
