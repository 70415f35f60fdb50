import type { LandingItem, PoisonRecord, StoreReads, StoreWrites, Stream, StreamReader, StreamRecord } from '../ports.ts';
import { decodeRecord } from '../signal/message.ts';

/** Records a landing transaction holds at most. */
const BATCH = 1000;
/** How long a read waits for a record, ms. */
const WAIT = 1000;
/** How often the stream's identity and the owned partitions are looked at again, ms. */
const REVIEW = 1000;
const BACKOFF = { first: 100, most: 5000 };

/** What landing is doing: `halted` needs a person, `retrying` goes on by itself. */
export type LandingStatus = { readonly state: 'running' } | { readonly state: 'retrying' | 'halted'; readonly reason: string };

export interface ConsumerOptions {
  readonly stream: Stream;
  readonly store: Pick<StoreReads, 'position' | 'positionStreams'> & Pick<StoreWrites, 'land'>;
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
 * position outside the log halts landing, and nothing is ever skipped.
 */
export function startConsumer({ stream, store, now, log }: ConsumerOptions): Consumer {
  const stop = new AbortController();
  const faults = new Map<string, LandingStatus>();
  const done = supervise();

  async function supervise(): Promise<void> {
    const running = new Map<number, Promise<void>>();
    await retrying('stream', async () => {
      const streamId = await identify(stream, store);
      const reader = await stream.join();
      faults.delete('stream');
      try {
        while (!stop.signal.aborted) {
          for (const partition of reader.owned()) {
            if (running.has(partition)) continue;
            const work = retrying(`partition ${partition}`, () => landPartition(streamId, reader, partition));
            running.set(
              partition,
              // A halted partition stays in the map: it is not started again.
              work.then((end) => void (end === 'done' && running.delete(partition))),
            );
          }
          await pause(REVIEW);
          const present = await stream.id();
          if (present !== streamId) throw new Halt(replaced(streamId, present));
        }
      } finally {
        await reader.close();
        await Promise.all(running.values());
      }
    });
  }

  async function landPartition(streamId: string, reader: StreamReader, partition: number): Promise<void> {
    while (!stop.signal.aborted && reader.owned().includes(partition)) {
      let from = (await store.position(streamId, partition)) ?? null;
      const { start, end } = await stream.bounds(partition);
      if (from !== null && (from < start || from > end)) throw new Halt(outside(partition, from, start, end));
      faults.delete(`partition ${partition}`);
      let at = from ?? start;
      while (!stop.signal.aborted && reader.owned().includes(partition)) {
        const records = await reader.read(partition, at, BATCH, WAIT);
        if (records.length === 0) continue;
        const to = records[records.length - 1].offset + 1;
        const result = await store.land({ streamId, partition, from, to, ...understand(records), now: now() });
        if (result === 'fenced') {
          log('warn', `partition ${partition} is landed by another consumer as well; reading its position again`);
          break;
        }
        from = to;
        at = to;
      }
    }
  }

  /** Runs `work` until it returns: again after a pause when it throws, not again after a Halt. */
  async function retrying(what: string, work: () => Promise<void>): Promise<'done' | 'halted'> {
    for (let wait = BACKOFF.first; !stop.signal.aborted; wait = Math.min(wait * 2, BACKOFF.most)) {
      const begun = performance.now();
      try {
        await work();
        faults.delete(what);
        return 'done';
      } catch (error) {
        const reason = (error as Error).message;
        const halted = error instanceof Halt;
        faults.set(what, { state: halted ? 'halted' : 'retrying', reason });
        log('error', `landing ${halted ? 'has stopped' : 'is held up'} (${what}): ${reason}`);
        if (halted) return 'halted';
        if (performance.now() - begun > BACKOFF.most) wait = BACKOFF.first;
        await pause(wait);
      }
    }
    return 'done';
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
