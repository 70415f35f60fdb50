import { randomUUID } from 'node:crypto';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { nameFile } from '../../disk.ts';
import type { Message, StreamRecord } from '../../ports/stream.ts';
import { isStorableText } from '../../signal/storable-text.ts';
import { noteWhosePages, usedBytes } from '../../sqlite-shrink.ts';

/**
 * One row per published batch, several for a large one; `first_offset`: of its first message. `messages` is a line of JSON with the shared
 * parts and the length of each value (`Head`), then the raw values: most batches come from one caller, and values are JSON themselves.
 */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS identity (id TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS batches (
  first_offset INTEGER PRIMARY KEY,
  count INTEGER NOT NULL,
  timestamp INTEGER NOT NULL,
  messages TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS batches_timestamp ON batches (timestamp);
CREATE TABLE IF NOT EXISTS ends (next_offset INTEGER NOT NULL) STRICT;`;

/** A batch as stored. */
export interface EncodedBatch {
  readonly count: number;
  /** A string, or UTF-8, which moves to another thread without a copy. */
  readonly text: string | Uint8Array<ArrayBuffer>;
}

type Headers = Record<string, string>;

/** The line before the values of a row. */
interface Head {
  /** The key of all messages, with their shared headers. */
  readonly key: string;
  readonly headers: Headers;
  /** One value per message; null if it lacks the header. */
  readonly own: Record<string, readonly (string | null)[]>;
  /** In UTF-16 code units. */
  readonly lengths: readonly number[];
  /** If they differ. */
  readonly keys?: readonly string[];
}

/** A whole row as JSON: the older format, still used for values that UTF-8 cannot represent. */
type JsonRow = readonly [
  shared: { key: string; headers: Headers },
  messages: readonly (readonly [own: Headers | 0, value: string, key?: string])[],
];

/** Characters of values, also per read. */
export const ROW = 1 << 18;
const READ = 1 << 20;

/** `messages` is not empty. */
export function encodeBatch(messages: readonly Message[]): EncodedBatch & { readonly text: string } {
  const count = messages.length;
  const values = messages.map(({ value }) => value);
  const text = values.join('');
  if (!isStorableText(text)) return { count, text: JSON.stringify(jsonRow(messages)) };
  const { key } = messages[0];
  const head: Head = {
    key,
    ...columnsOf(messages),
    lengths: values.map(({ length }) => length),
    ...(messages.some((message) => message.key !== key) && { keys: messages.map((message) => message.key) }),
  };
  return { count, text: `${JSON.stringify(head)}\n${text}` };
}

/** Shared and individual ones. */
function columnsOf(messages: readonly Message[]): Pick<Head, 'headers' | 'own'> {
  const headers: Headers = {};
  const own: Record<string, (string | null)[]> = {};
  const names = new Set<string>();
  for (const message of messages) for (const name in message.headers) names.add(name);
  for (const name of names) {
    const value = messages[0].headers[name];
    if (value !== undefined && messages.every((message) => message.headers[name] === value)) headers[name] = value;
    else own[name] = messages.map((message) => message.headers[name] ?? null);
  }
  return { headers, own };
}

const jsonRow = (messages: readonly Message[]): JsonRow => [
  { key: messages[0].key, headers: {} },
  messages.map(({ headers, value, key }) => [headers, value, key]),
];

/** The first message has the offset `first`. */
function decodeRow(text: string, first: number, timestamp: number): StreamRecord[] {
  if (text.startsWith('[')) {
    const [shared, messages] = JSON.parse(text) as JsonRow;
    return messages.map(([own, value, key = shared.key], i) => ({
      offset: first + i,
      timestamp,
      key,
      headers: own === 0 ? shared.headers : { ...shared.headers, ...own },
      value,
    }));
  }
  const end = text.indexOf('\n') + 1;
  const { key, headers, own, lengths, keys } = JSON.parse(text.slice(0, end)) as Head;
  const columns = Object.entries(own);
  const records: StreamRecord[] = [];
  let at = end;
  for (const [i, length] of lengths.entries()) {
    const value = text.slice(at, at + length);
    at += length;
    const all = columns.length === 0 ? headers : withOwn(headers, columns, i);
    records.push({ offset: first + i, timestamp, key: keys?.[i] ?? key, headers: all, value });
  }
  return records;
}

/** Of the i-th message. */
function withOwn(shared: Headers, columns: [name: string, values: readonly (string | null)[]][], i: number): Headers {
  const headers = { ...shared };
  for (const [name, values] of columns) {
    const value = values[i];
    if (value !== null) headers[name] = value;
  }
  return headers;
}

export const STREAM_FILE = 'stream.db';

/** Creates a missing folder, readable by its owner only. */
export function streamFile(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  return join(dataDir, STREAM_FILE);
}

/** A new file gets an identity of its own. Throws an error that names an unusable file. */
export function openLog(file: string): DatabaseSync {
  try {
    return open(file);
  } catch (error) {
    throw nameFile(error as Error, 'stream', file);
  }
}

function open(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 5000 });
  noteWhosePages(db);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 8192');
  // `ends` is created last, in the same transaction: if it exists, the schema is complete and no lock is needed.
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'ends'").get() !== undefined) return db;
  db.exec('BEGIN IMMEDIATE');
  db.exec(SCHEMA);
  if (db.prepare('SELECT id FROM identity').get() === undefined) {
    db.prepare('INSERT INTO identity VALUES (?)').run(randomUUID());
    db.prepare('INSERT INTO ends VALUES (0)').run();
  }
  db.exec('COMMIT');
  return db;
}

const PROBE = encodeBatch([{ key: '', headers: {}, value: '' }]);

/** Durable when a call returns; throws if the file is not writable. */
export function logAppender(db: DatabaseSync) {
  const take = db.prepare('UPDATE ends SET next_offset = next_offset + ? RETURNING next_offset');
  const insert = db.prepare('INSERT INTO batches VALUES (?, ?, ?, CAST(? AS TEXT))');
  const revert = db.prepare('DELETE FROM batches WHERE first_offset = ?');
  const file = db.location()!;
  const opened = statSync(file);

  /** Writes to a removed or replaced file would be lost with the process, unnoticed. */
  function requireFile(): void {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found?.ino !== opened.ino || found.dev !== opened.dev) throw new Error('it was removed or replaced; restart weir');
  }
  function commit(work: () => void): void {
    requireFile();
    db.exec('BEGIN IMMEDIATE');
    try {
      work();
      db.exec('COMMIT');
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  }
  /** Returns its offset. */
  function add({ count, text }: EncodedBatch, timestamp: number): number {
    const first = Number(take.get(count)!.next_offset) - count;
    insert.run(first, count, timestamp, text);
    return first;
  }

  return {
    /** In one transaction, with this time (ms). */
    append(batches: readonly EncodedBatch[], timestamp: number): void {
      commit(() => {
        for (const batch of batches) add(batch, timestamp);
      });
    },
    /** A rolled-back append: nobody sees it, and offsets stay. */
    probe(): void {
      commit(() => {
        revert.run(add(PROBE, 0));
        take.get(-PROBE.count);
      });
    },
  };
}

/** Identity, bounds, and up to `max` records from an offset on. */
export function logReader(db: DatabaseSync) {
  const identity = db.prepare('SELECT id FROM identity');
  const bounds = db.prepare(
    'SELECT next_offset AS "end", coalesce((SELECT min(first_offset) FROM batches), next_offset) AS start FROM ends',
  );
  // A waiting reader polls ten times a second: of the last batch, which it already has, only two numbers are read.
  const from = db.prepare(
    `SELECT first_offset, count, timestamp, messages FROM batches
     WHERE first_offset >= coalesce((SELECT max(first_offset) FROM batches WHERE first_offset <= ?1), 0) AND first_offset + count > ?1
     ORDER BY first_offset LIMIT ?2`,
  );
  const version = db.prepare('PRAGMA data_version');
  return {
    id: () => String(identity.get()!.id),
    /** Changes with each commit of another connection. */
    version: () => Number(version.get()!.data_version),
    bounds: () => {
      const row = bounds.get()!;
      return { start: Number(row.start), end: Number(row.end) };
    },
    /** Returns fewer than `max` if the messages are large. */
    read(offset: number, max: number): StreamRecord[] {
      const records: StreamRecord[] = [];
      let size = 0;
      for (const row of from.iterate(offset, max + 1)) {
        const first = Number(row.first_offset);
        const timestamp = Number(row.timestamp);
        const text = String(row.messages);
        size += text.length;
        const found = decodeRow(text, first, timestamp);
        for (let i = Math.max(0, offset - first); i < found.length && records.length < max; i += 1) records.push(found[i]);
        if (records.length >= max || (size >= READ && records.length > 0)) break;
      }
      return records;
    },
  };
}

/**
 * Whole batches at or below `landed`, older than `before` (ms), or the oldest above `most` bytes: up to `limit` messages, but at least one
 * batch. Returns the number of messages.
 */
export function trimLog(db: DatabaseSync, before: number, landed: number, limit: number, most = Number.POSITIVE_INFINITY): number {
  const excess = usedBytes(db) - most;
  const those = excess > 0 ? '?' : 'timestamp < ?';
  const rows = db
    .prepare(
      `SELECT first_offset, count, timestamp, octet_length(messages) AS bytes FROM batches
       WHERE ${those} AND first_offset + count <= ? ORDER BY first_offset LIMIT ?`,
    )
    .all(excess > 0 ? 1 : before, landed, limit);
  let removed = 0;
  let bytes = 0;
  let last = -1;
  for (const row of rows) {
    if (removed > 0 && removed + Number(row.count) > limit) break;
    if (Number(row.timestamp) >= before && bytes >= excess) break;
    removed += Number(row.count);
    bytes += Number(row.bytes);
    last = Number(row.first_offset);
  }
  if (last >= 0) db.prepare('DELETE FROM batches WHERE first_offset <= ?').run(last);
  return removed;
}
