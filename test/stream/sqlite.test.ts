import assert from 'node:assert/strict';
import { renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { logReader, openLog, streamFile } from '../../src/stream/sqlite/log.ts';
import { openSqliteStream } from '../../src/stream/sqlite/stream.ts';
import { streamConformance } from '../conformance/stream.ts';
import { temporaryFolder } from '../support/folder.ts';
import { eventually, PATIENT } from '../support/weir.ts';

streamConformance({
  name: 'sqlite',
  async open(t) {
    const folder = temporaryFolder(t);
    const open = async () => {
      const stream = openSqliteStream(join(folder, 'data'));
      t.after(() => stream.close());
      return stream;
    };
    return { stream: await open(), again: open };
  },
});

const note = (n: number) => ({ key: 'w', headers: { signal_id: String(n) }, value: `{"n":${n}}` });

test('D1 DATA_DIR is made with mode 0700', async (t) => {
  const folder = join(temporaryFolder(t), 'deep', 'data');
  const stream = openSqliteStream(folder);
  await stream.close();
  assert.equal(statSync(folder).mode & 0o777, 0o700);
});

test('D1.21 a file that cannot be written: append and probe say so, and both work again when it can be', async (t) => {
  const folder = temporaryFolder(t);
  const stream = openSqliteStream(folder);
  t.after(() => stream.close());
  await stream.publish([note(0)]);
  const db = new DatabaseSync(join(folder, 'stream.db'), PATIENT);
  t.after(() => db.close());
  db.exec("CREATE TRIGGER full BEFORE INSERT ON batches BEGIN SELECT RAISE(ABORT, 'the disk is full'); END");
  const reason = /cannot be written: the disk is full/;
  await assert.rejects(stream.publish([note(1)]), reason);
  await assert.rejects(stream.probe(), reason);
  db.exec('DROP TRIGGER full');
  await stream.probe();
  await stream.publish([note(1)]);
  assert.deepEqual(await stream.bounds(0), { start: 0, end: 2 });
});

test('D3.20 once the file was removed or replaced, nothing is accepted: it would be gone with the process', async (t) => {
  const folder = temporaryFolder(t);
  const data = join(folder, 'data');
  const stream = openSqliteStream(data);
  t.after(() => stream.close());
  await stream.publish([note(0)]);
  const reason = /cannot be written: it was removed or replaced/;
  renameSync(data, join(folder, 'moved'));
  await assert.rejects(stream.publish([note(1)]), reason);
  await assert.rejects(stream.probe(), reason);
  await openSqliteStream(data).close();
  await assert.rejects(stream.publish([note(2)]), reason);
  rmSync(data, { recursive: true });
  renameSync(join(folder, 'moved'), data);
  await stream.publish([note(3)]);
  const { end } = await stream.bounds(0);
  assert.equal(end, 2);
});

test('6 rows of earlier versions are read as they were written, and texts that UTF-8 cannot hold come back as they were sent', async (t) => {
  const folder = temporaryFolder(t);
  const stream = openSqliteStream(folder);
  t.after(() => stream.close());
  const db = new DatabaseSync(join(folder, 'stream.db'), PATIENT);
  const row = [
    { key: 'w', headers: { a: '1' } },
    [
      [0, '{"n":0}'],
      [{ signal_id: '1' }, '{"n":1}', 'v'],
    ],
  ];
  db.prepare('INSERT INTO batches VALUES (0, 2, 7, ?)').run(JSON.stringify(row));
  db.exec('UPDATE ends SET next_offset = 2');
  db.close();
  const old = [
    { key: 'w', headers: { a: '1' }, value: '{"n":0}' },
    { key: 'v', headers: { a: '1', signal_id: '1' }, value: '{"n":1}' },
  ];
  const headersOf = (n: number): Record<string, string> => (n === 0 ? {} : { a: '1', n: String(n) });
  const texts = ['', 'é\n', 'a\ud83d', '\ude00b', '\0', '\ud83d', '名'];
  const sent = texts.map((value, n) => ({ key: `w${n % 2}`, headers: headersOf(n), value }));
  // One batch is stored as JSON because of its lone surrogate, and the other as it is: its halves make a whole.
  await stream.publish(sent);
  await stream.publish(sent.slice(0, 4));
  const reader = await stream.join();
  t.after(() => reader.close());
  const read = (await reader.read(0, 0, 100, 0)).map(({ key, headers, value }) => ({ key, headers, value }));
  assert.deepEqual(read, [...old, ...sent, ...sent.slice(0, 4)]);
  assert.deepEqual((await reader.read(0, 4, 100, 0))[0], {
    offset: 4,
    timestamp: (await reader.read(0, 2, 1, 0))[0]!.timestamp,
    ...sent[2],
  });
});

test('D50.9 a waiting reader reads again after each commit of another process, and only then', async (t) => {
  const folder = temporaryFolder(t);
  const [mine, other] = [openSqliteStream(folder), openSqliteStream(folder)];
  t.after(() => Promise.all([mine.close(), other.close()]));
  const db = openLog(streamFile(folder));
  t.after(() => db.close());
  const { version } = logReader(db);
  const reader = await mine.join();
  t.after(() => reader.close());
  for (let n = 0; n < 3; n += 1) {
    const before = version();
    assert.deepEqual([await reader.read(0, n, 10, 0), await reader.read(0, n, 10, 0), version()], [[], [], before]);
    await other.publish([note(n)]);
    assert.deepEqual([(await reader.read(0, n, 10, 0)).length, version() === before], [1, false]);
    assert.deepEqual(await reader.read(0, n + 1, 10, 0), []);
  }
});

test('D4 retention deletes landed messages that are old enough, never unlanded ones, and never moves offsets', async (t) => {
  const stream = openSqliteStream(temporaryFolder(t));
  t.after(() => stream.close());
  for (let n = 0; n < 10; n += 1) await stream.publish([note(n)]);
  const later = Date.now() + 1000;
  assert.equal(await stream.trim(0, later, 4, 1000), 4);
  assert.deepEqual(await stream.bounds(0), { start: 4, end: 10 });
  assert.equal(await stream.trim(0, 0, 10, 1000), 0);
  assert.equal(await stream.trim(0, later, 10, 3), 3);
  assert.equal(await stream.trim(0, later, 10, 1000), 3);
  assert.deepEqual(await stream.bounds(0), { start: 10, end: 10 });
  await stream.publish([note(10)]);
  assert.deepEqual(await stream.bounds(0), { start: 10, end: 11 });
});

test('D22.5 what has landed of the embedded stream has its bytes: the oldest goes before its time, and the file shrinks', async (t) => {
  const folder = temporaryFolder(t);
  const stream = openSqliteStream(folder);
  t.after(() => stream.close());
  const value = JSON.stringify({ reason: 'x'.repeat(50_000) });
  const batch = Array.from({ length: 40 }, () => ({ ...note(0), value }));
  for (let n = 0; n < 20; n += 1) await stream.publish(batch);
  const trimAll = async (landed: number, most?: number) => {
    while ((await stream.trim(0, 0, landed, 1000, most)) > 0);
    return stream.bounds(0);
  };
  const most = 8 * 1024 * 1024;
  assert.deepEqual(await trimAll(800), { start: 0, end: 800 }, 'without a limit all stays');
  assert.deepEqual(await trimAll(0, most), { start: 0, end: 800 }, 'what has not landed stays');
  const { start, end } = await trimAll(800, most);
  assert.ok(end === 800 && start >= 600 && start < 700, `${start} to ${end}`);
  const size = () => statSync(join(folder, 'stream.db')).size;
  await eventually(async () => {
    await stream.publish(batch);
    await trimAll(2000, most);
    assert.ok(size() < 30 * 1024 * 1024, String(size()));
  });
});

test('4.2 D4.1 a batch of large messages is appended whole and in order, beside small ones, and read in parts', async (t) => {
  const stream = openSqliteStream(temporaryFolder(t));
  t.after(() => stream.close());
  const large = (n: number) => ({ key: 'w', headers: { signal_id: String(n) }, value: `{"n":${n},"text":"${'x'.repeat(100_000)}"}` });
  const numbers = Array.from({ length: 100 }, (_, n) => n);
  await Promise.all([stream.publish(numbers.map(large)), stream.publish([note(1000)]), stream.publish([note(1001)])]);
  assert.deepEqual(await stream.bounds(0), { start: 0, end: 102 });
  const reader = await stream.join();
  t.after(() => reader.close());
  const seen: { offset: number; id: number; length: number }[] = [];
  let reads = 0;
  for (; seen.length < 102; reads += 1) {
    const records = await reader.read(0, seen.length, 1000, 0);
    assert(records.length > 0);
    for (const { offset, headers, value } of records) seen.push({ offset, id: Number(headers.signal_id), length: value.length });
  }
  assert(reads > 1, `${reads} reads`);
  assert.deepEqual(
    seen.map(({ offset }) => offset),
    Array.from({ length: 102 }, (_, n) => n),
  );
  const ofLarge = seen.filter(({ id }) => id < 1000);
  assert.deepEqual(
    ofLarge.map(({ id }) => id),
    numbers,
  );
  // Nothing comes between the messages of one batch.
  assert.equal(ofLarge.at(-1)!.offset - ofLarge[0]!.offset, 99);
});
