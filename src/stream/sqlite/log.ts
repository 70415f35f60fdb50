import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Message, StreamRecord } from '../../ports/stream.ts';

/**
 * One row for each published batch, more for a large one: `first_offset` is that of its first message. `messages` is JSON: the key and the headers that
 * all messages of the batch share, then one array for each message with its own headers and its value. Most batches come from one
 * caller, so this halves what is written and read.
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

/** A batch in the text form in which it is handed to the appender thread and stored. */
export interface EncodedBatch {
  readonly count: number;
  /** As a string, or as UTF-8, which goes to another thread without a copy. */
  readonly text: string | Uint8Array<ArrayBuffer>;
}

type Headers = Record<string, string>;
type StoredBatch = readonly [
  shared: { key: string; headers: Headers },
  messages: readonly (readonly [own: Headers | 0, value: string, key?: string])[],
];

/** Characters of values after which a batch is stored as several rows, and after which a read returns what it has. */
export const ROW = 1 << 18;
const READ = 1 << 19;

/** The text form of a batch of at least one message. */
export function encodeBatch(messages: readonly Message[]): EncodedBatch & { readonly text: string } {
  const [first] = messages;
  const headers = Object.fromEntries(
    Object.entries(first.headers).filter(([name, value]) => messages.every((message) => message.headers[name] === value)),
  );
  const stored: StoredBatch = [
    { key: first.key, headers },
    messages.map((message) => {
      const own = ownHeaders(message.headers, headers);
      return message.key === first.key ? [own, message.value] : [own, message.value, message.key];
    }),
  ];
  return { count: messages.length, text: JSON.stringify(stored) };
}

function ownHeaders(all: Message['headers'], shared: Headers): Headers | 0 {
  let own: Headers | 0 = 0;
  for (const name in all) {
    if (shared[name] !== undefined) continue;
    own ||= {};
    own[name] = all[name];
  }
  return own;
}

/** All headers of a message. One by one: a second spread would take several times as long. */
function withOwn(shared: Headers, own: Headers): Headers {
  const headers = { ...shared };
  for (const name in own) headers[name] = own[name];
  return headers;
}

/** The embedded stream's file in the data folder. */
export const STREAM_FILE = 'stream.db';

/** The path of that file. Makes a missing folder, readable by its owner only. */
export function streamFile(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  return join(dataDir, STREAM_FILE);
}

/** Opens the log. A new file gets an identity of its own. Throws an error that names the file when it cannot be used. */
export function openLog(file: string): DatabaseSync {
  try {
    return open(file);
  } catch (error) {
    (error as Error).message = `the stream's file ${file} cannot be used: ${(error as Error).message}`;
    throw error;
  }
}

function open(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 5000 });
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 8192');
  // `ends` comes last, in the same transaction as the others: where it is, nothing is missing, and no lock is needed.
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

/** Writes the log. What is written is durable when a call returns; a call throws when the file cannot be written. */
export interface LogAppender {
  /** Appends batches in one transaction with this time (ms). */
  append(batches: readonly EncodedBatch[], timestamp: number): void;
  /** Appends a message and takes it back in the same transaction: nobody sees it, and offsets stay. */
  probe(): void;
}

const PROBE = encodeBatch([{ key: '', headers: {}, value: '' }]);

/** What appends to the log. */
export function logAppender(db: DatabaseSync): LogAppender {
  const take = db.prepare('UPDATE ends SET next_offset = next_offset + ? RETURNING next_offset');
  const insert = db.prepare('INSERT INTO batches VALUES (?, ?, ?, CAST(? AS TEXT))');
  const takeBack = db.prepare('DELETE FROM batches WHERE first_offset = ?');

  function commit(work: () => void): void {
    db.exec('BEGIN IMMEDIATE');
    try {
      work();
      db.exec('COMMIT');
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  }
  /** Returns the offset of the batch. */
  function add({ count, text }: EncodedBatch, timestamp: number): number {
    const first = Number(take.get(count)!.next_offset) - count;
    insert.run(first, count, timestamp, text);
    return first;
  }

  return {
    append(batches, timestamp) {
      commit(() => {
        for (const batch of batches) add(batch, timestamp);
      });
    },
    probe() {
      commit(() => {
        takeBack.run(add(PROBE, 0));
        take.get(-PROBE.count);
      });
    },
  };
}

/** Reads the log: its identity, its bounds, up to `max` records from an offset on. */
export function logReader(db: DatabaseSync) {
  const identity = db.prepare('SELECT id FROM identity');
  const bounds = db.prepare(
    'SELECT next_offset AS "end", coalesce((SELECT min(first_offset) FROM batches), next_offset) AS start FROM ends',
  );
  // A reader that waits asks ten times a second: of the last batch, which it has, nothing but its two numbers is read.
  const from = db.prepare(
    `SELECT first_offset, count, timestamp, messages FROM batches
     WHERE first_offset >= coalesce((SELECT max(first_offset) FROM batches WHERE first_offset <= ?1), 0) AND first_offset + count > ?1
     ORDER BY first_offset LIMIT ?2`,
  );
  return {
    id: () => String(identity.get()!.id),
    bounds: () => {
      const row = bounds.get()!;
      return { start: Number(row.start), end: Number(row.end) };
    },
    /** Returns fewer than `max` where the messages are large. */
    read(offset: number, max: number): StreamRecord[] {
      const records: StreamRecord[] = [];
      let size = 0;
      for (const row of from.iterate(offset, max + 1)) {
        const first = Number(row.first_offset);
        const timestamp = Number(row.timestamp);
        const text = String(row.messages);
        size += text.length;
        const [shared, messages] = JSON.parse(text) as StoredBatch;
        for (let i = Math.max(0, offset - first); i < messages.length && records.length < max; i += 1) {
          const [own, value, key = shared.key] = messages[i];
          const headers = own === 0 ? shared.headers : withOwn(shared.headers, own);
          records.push({ offset: first + i, timestamp, key, headers, value });
        }
        if (records.length >= max || (size >= READ && records.length > 0)) break;
      }
      return records;
    },
  };
}

/**
 * Deletes whole batches older than `before` (ms) that end at or below `landed`: up to `limit` messages, but at
 * least one batch. Returns how many messages.
 */
export function trimLog(db: DatabaseSync, before: number, landed: number, limit: number): number {
  const rows = db
    .prepare('SELECT first_offset, count FROM batches WHERE timestamp < ? AND first_offset + count <= ? ORDER BY first_offset LIMIT ?')
    .all(before, landed, limit);
  let removed = 0;
  let last = -1;
  for (const row of rows) {
    if (removed > 0 && removed + Number(row.count) > limit) break;
    removed += Number(row.count);
    last = Number(row.first_offset);
  }
  if (last >= 0) db.prepare('DELETE FROM batches WHERE first_offset <= ?').run(last);
  return removed;
}
