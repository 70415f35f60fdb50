import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { HoldForeign, LandingItem, PoisonRecord } from '../ports/landing.ts';
import type { Log } from '../ports/log.ts';
import type { StoreReads, StoreWrites } from '../ports/store.ts';
import type { Stream, StreamReader, StreamRecord } from '../ports/stream.ts';
import type { TracedLanding } from '../ports/trace.ts';
import { decodeSignalRecord, headerReader } from '../signal/message/decode.ts';
import { readTraceparent } from '../signal/message/traceparent.ts';
import { positionOutside } from './fatal-landing.ts';
import { pause } from './retry.ts';

/** Records: under load they share a sync and changed pages. */
const BATCH = 8000;
/** How long a read waits for a record, ms. */
const WAIT = 1000;
/** Between landings of less than a full batch, ms: a trickle shares a transaction and its sync. */
const GATHER = 20;

export type LandingStore = Pick<StoreReads, 'position' | 'positionStreams'> & Pick<StoreWrites, 'apply'>;

export interface LandingParts {
  readonly store: LandingStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Not only traced ones. */
  readonly debug?: boolean | undefined;
  readonly onTraced?: ((landing: TracedLanding) => void) | undefined;
  /** Absent: none waits. */
  readonly hold?: HoldForeign | undefined;
}

export interface PartitionParts extends LandingParts {
  readonly streamId: string;
  readonly partition: number;
  readonly stream: Pick<Stream, 'bounds'>;
  readonly reader: StreamReader;
  /** After each read whose records have landed. */
  readonly onProgress: () => void;
  /** Of the oldest record read but not landed, ms since 1970. */
  readonly onRead: (timestamp: number | undefined) => void;
  readonly onLanded: (messages: number) => void;
  readonly stop: AbortSignal;
}

/** In faults and logs. */
export const partitionName = (partition: number): string => `partition ${partition}`;

/**
 * Until `stop` aborts or another member owns the partition. If another consumer lands it too, the position is read again. Rejects if an
 * engine fails; with FatalLanding if the store's position is outside of the stream.
 */
export async function landPartition(parts: PartitionParts): Promise<void> {
  let rivals = false;
  while (isActive(parts)) {
    if ((await landFrom(parts, await readPosition(parts))) !== 'fenced') continue;
    if (!rivals) parts.log('warn', `${partitionName(parts.partition)} is also landed by another consumer; reading its position again`);
    rivals = true;
  }
}

const isActive = ({ stop, reader, partition }: PartitionParts): boolean => !stop.aborted && reader.owned().includes(partition);

/** `from`: stored, null if there is none; `next`: first offset to read. */
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

/** `fenced`: the store's position has changed; nothing of that batch was written. */
async function landFrom(parts: PartitionParts, { from, next }: Position): Promise<'fenced' | 'ended'> {
  const { streamId, partition, reader, store, clock, log, hold, onProgress, onRead, onLanded, stop } = parts;
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
      const { items, poison, defects, consumed } = await decodeRecords(rest);
      const piece = rest.slice(0, consumed);
      const to = piece[consumed - 1].offset + 1;
      const waiting = items.some(({ isForeign }) => isForeign) ? ((await hold?.(items)) ?? []) : [];
      const held = new Set(waiting.flatMap((each) => each.records));
      const landing = held.size === 0 ? items : items.filter(({ record }) => !held.has(record));
      const result = await store.apply({ streamId, partition, from, to, items: landing, poison, waiting, now: clock.now() });
      if (result === 'fenced') return 'fenced';
      onLanded(piece.length);
      tell(parts, piece, clock.monotonic() - started);
      for (const { offset, defect } of defects) {
        const place = `${partitionName(partition)}, offset ${offset}`;
        log('error', `a defect of weir: a message (${place}) could not be decoded and is a dead letter now: ${stackOf(defect)}`);
      }
      from = to;
      next = to;
      rest = rest.slice(consumed);
    }
    if (records.length > 0) onRead(undefined);
    onProgress();
    // Reading and landing may never yield: let calls from other threads run.
    await turn();
  }
  onRead(undefined);
  return 'ended';
}

/** Reported traces per landing. */
const TRACES = 20;

/** It took `ms`: a line and a span for each trace in it, at debug level for the rest (SPEC D16.4). */
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
  readonly consumed: number;
  readonly items: readonly LandingItem[];
  readonly poison: readonly PoisonRecord[];
  /** Poison caused by a defect of weir. */
  readonly defects: readonly { readonly offset: number; readonly defect: unknown }[];
}

/** Records and characters, per turn of the event loop, so calls from other threads can run. */
const DECODED = 500;
const DECODED_TEXT = 1 << 19;
/** Characters decoded and landed together. */
const LANDED_TEXT = 1 << 22;
/** A longer message counts more: as objects its settings may take thirty times the memory. */
const LONG = 1 << 10;
const OF_LONG = 16;
const weightOf = ({ length }: string) => (length > LONG ? length * OF_LONG : length);

/** Items to land, and poison with its reason. */
async function decodeRecords(records: readonly StreamRecord[]): Promise<DecodedRecords> {
  const items: LandingItem[] = [];
  const poison: PoisonRecord[] = [];
  const defects: { offset: number; defect: unknown }[] = [];
  const headers = headerReader();
  let [consumed, text, total] = [0, 0, 0];
  for (const record of records) {
    if (total >= LANDED_TEXT) break;
    if (consumed % DECODED === 0 || text >= DECODED_TEXT) {
      await turn();
      text = 0;
    }
    consumed += 1;
    const decoded = decodeSignalRecord(record, headers);
    if (!('poison' in decoded)) {
      items.push({ record, ...decoded });
      text += record.value.length;
      total += weightOf(record.value);
    } else {
      poison.push({ record, reason: decoded.poison });
      if (decoded.defect !== undefined) defects.push({ offset: record.offset, defect: decoded.defect });
    }
  }
  return { consumed, items, poison, defects };
}

const stackOf = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error));
