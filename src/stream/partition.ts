/** Landing one partition of the stream. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { LandingItem, PoisonRecord } from '../ports/landing.ts';
import type { Log } from '../ports/log.ts';
import type { StoreReads, StoreWrites } from '../ports/store.ts';
import type { Stream, StreamReader, StreamRecord } from '../ports/stream.ts';
import type { TracedLanding } from '../ports/trace.ts';
import { decodeSignalRecord, headerReader } from '../signal/message/decode.ts';
import { readTraceparent } from '../signal/message/traceparent.ts';
import { positionOutside } from './fatal-landing.ts';
import { pause } from './retry.ts';

/** Records a landing transaction holds at most: where many wait, they share its sync, and the pages that they change. */
const BATCH = 8000;
/** How long a read waits for a record, ms. */
const WAIT = 1000;
/** Landings of less than a full batch begin at least this far apart, ms: what trickles in shares a transaction, and its sync. */
const GATHER = 20;

/** What landing asks of the store. */
export type LandingStore = Pick<StoreReads, 'position' | 'positionStreams'> & Pick<StoreWrites, 'apply'>;

/** Where records land, and who is told. */
export interface LandingParts {
  readonly store: LandingStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether each landing is logged; else those that are part of a trace. */
  readonly debug?: boolean | undefined;
  /** Is told of what has landed of traces. */
  readonly onTraced?: ((landing: TracedLanding) => void) | undefined;
}

/** One partition of a stream, where it lands, and until when. */
export interface PartitionParts extends LandingParts {
  readonly streamId: string;
  readonly partition: number;
  readonly stream: Pick<Stream, 'bounds'>;
  readonly reader: StreamReader;
  /** Called after each read that went well, with its records landed. */
  readonly onProgress: () => void;
  /** Called with the time (ms since 1970) of the oldest record that was read and has not landed; undefined when there is none. */
  readonly onRead: (timestamp: number | undefined) => void;
  /** Called with the number of messages of each landing. */
  readonly onLanded: (messages: number) => void;
  readonly stop: AbortSignal;
}

/** What faults and the log call a partition. */
export const partitionName = (partition: number): string => `partition ${partition}`;

/**
 * Lands the partition until `stop` aborts or another member owns it. When another consumer lands it as well, the position is read
 * again. Rejects when an engine fails, with a Halt when the store's position lies outside the stream.
 */
export async function landPartition(parts: PartitionParts): Promise<void> {
  let rivals = false;
  while (isActive(parts)) {
    if ((await landFrom(parts, await readPosition(parts))) !== 'fenced') continue;
    if (!rivals) parts.log('warn', `${partitionName(parts.partition)} is landed by another consumer as well; reading its position again`);
    rivals = true;
  }
}

const isActive = ({ stop, reader, partition }: PartitionParts): boolean => !stop.aborted && reader.owned().includes(partition);

/** Where landing goes on: `from` as the store holds it, null when it holds none; `next` is the first offset to read. */
interface Position {
  readonly from: number | null;
  readonly next: number;
}

async function readPosition({ streamId, partition, stream, store }: PartitionParts): Promise<Position> {
  const from = (await store.position(streamId, partition)) ?? null;
  const bounds = await stream.bounds(partition);
  if (from !== null && (from < bounds.start || from > bounds.end)) throw positionOutside(partition, from, bounds);
  return { from, next: from ?? bounds.start };
}

/** Lands batch after batch. `fenced`: the store's position is not the one that was read; nothing of that batch was written. */
async function landFrom(parts: PartitionParts, { from, next }: Position): Promise<'fenced' | 'ended'> {
  const { streamId, partition, reader, store, clock, log, onProgress, onRead, onLanded, stop } = parts;
  let begun = Number.NEGATIVE_INFINITY;
  while (isActive(parts)) {
    const records = await reader.read(partition, next, BATCH, WAIT);
    onRead(records[0]?.timestamp);
    const early = begun + GATHER - clock.monotonic();
    if (records.length > 0 && records.length < BATCH && early > 0) {
      await pause(early, clock, stop);
      begun = Number.NEGATIVE_INFINITY;
      continue;
    }
    if (records.length > 0) begun = clock.monotonic();
    for (let rest = records; rest.length > 0; ) {
      const started = clock.monotonic();
      const { items, poison, defects, taken } = await decodeRecords(rest);
      const piece = rest.slice(0, taken);
      const to = piece[taken - 1].offset + 1;
      const result = await store.apply({ streamId, partition, from, to, items, poison, now: clock.now() });
      if (result === 'fenced') return 'fenced';
      onLanded(piece.length);
      tell(parts, piece, clock.monotonic() - started);
      for (const { offset, defect } of defects) {
        const place = `${partitionName(partition)}, offset ${offset}`;
        log('error', `a defect of weir: a message (${place}) could not be decoded and is a dead letter now: ${stackOf(defect)}`);
      }
      from = to;
      next = to;
      rest = rest.slice(taken);
    }
    if (records.length > 0) onRead(undefined);
    onProgress();
    // Reading and landing may wait for nothing at all: calls from other threads must get their turn.
    await turn();
  }
  onRead(undefined);
  return 'ended';
}

/** Traces of one landing that are told. */
const TRACES = 20;

/** Tells of a landing that took `ms`: by a line and a step for each trace that it has a part in, at debug for the rest (SPEC D16.4). */
function tell({ partition, clock, log, debug = false, onTraced }: PartitionParts, records: readonly StreamRecord[], ms: number): void {
  const endedAt = clock.now();
  const place = `${partitionName(partition)}, offsets ${records[0]!.offset} to ${records.at(-1)!.offset}, ${ms.toFixed(1)} ms`;
  const traces = Map.groupBy(records, ({ headers }) => readTraceparent(headers.traceparent));
  if (debug) log('debug', `landed ${records.length} messages (${place})`);
  traces.delete(undefined);
  for (const [traceparent, { length: messages }] of [...traces].slice(0, TRACES)) {
    log('info', `landed ${messages} messages of traceparent ${traceparent} (${place})`);
    onTraced?.({ traceparent: traceparent!, messages, partition, begunAt: endedAt - ms, endedAt });
  }
}

interface DecodedRecords {
  /** How many of the records. */
  readonly taken: number;
  readonly items: readonly LandingItem[];
  readonly poison: readonly PoisonRecord[];
  /** What of the poison is weir's own fault. */
  readonly defects: readonly { readonly offset: number; readonly defect: unknown }[];
}

/** Records, and characters of them, that are decoded in one turn of the event loop: calls from other threads get on in between. */
const DECODED = 500;
const DECODED_TEXT = 1 << 19;
/** Characters that are decoded, and landed, at once. */
const LANDED_TEXT = 1 << 22;
/** A longer message counts for more of them: as objects its settings may take thirty times as much, and the collector lets them wait. */
const LONG = 1 << 10;
const OF_LONG = 16;
const weightOf = ({ length }: string) => (length > LONG ? length * OF_LONG : length);

/** Decodes the first of what was read: items to land, and poison with its reason. */
async function decodeRecords(records: readonly StreamRecord[]): Promise<DecodedRecords> {
  const items: LandingItem[] = [];
  const poison: PoisonRecord[] = [];
  const defects: { offset: number; defect: unknown }[] = [];
  const headers = headerReader();
  let [taken, text, whole] = [0, 0, 0];
  for (const record of records) {
    if (whole >= LANDED_TEXT) break;
    if (taken % DECODED === 0 || text >= DECODED_TEXT) {
      await turn();
      text = 0;
    }
    taken += 1;
    const decoded = decodeSignalRecord(record, headers);
    if (!('poison' in decoded)) {
      items.push({ record, ...decoded });
      text += record.value.length;
      whole += weightOf(record.value);
    } else {
      poison.push({ record, reason: decoded.poison });
      if (decoded.defect !== undefined) defects.push({ offset: record.offset, defect: decoded.defect });
    }
  }
  return { taken, items, poison, defects };
}

const stackOf = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error));
