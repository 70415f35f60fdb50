/** `weir backup` beside a server that takes signals, and `weir restore`. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, suite, test } from 'node:test';
import { command, commandJson, commandText } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { getFeed, postSignals, readyz } from '../support/http.ts';
import { eventually, KEY, weir as run, startWeir } from '../support/weir.ts';

suite('backup and restore', () => {
  const folder = temporaryFolder({ after });
  const geo = smallGeo(folder);
  const settingsOf = (name: string) => ({ ...geo, DATA_DIR: join(folder, name), BOOTSTRAP_API_KEY: KEY, FEED_REBUILD_SECONDS: '0' });
  const address = (n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
  const batch = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => ({ type: 'access_rules', action: 'block', ip: address(from + i) }));
  const targets = async (settings: Record<string, string>) =>
    new Set((await commandJson<{ target: string }[]>(['rule', 'ls', '--workspace', 'default'], settings)).map(({ target }) => target));
  /** Starts a server on a restored folder, and lets it land all there is. */
  const startAndLand = async (settings: Record<string, string>) => {
    const started = await startWeir(settings);
    await eventually(async () => {
      const { status, checks } = await readyz(started.url);
      assert.deepEqual([status, checks.landing.lag_messages], [200, 0]);
    });
    return started;
  };

  const settings = settingsOf('data');
  const backup = join(folder, 'backups/monday');

  test('D11.7 weir backup beside a server that takes signals: all that was accepted before is in it, and it is sound', async (t) => {
    const server = await startWeir(settings);
    t.after(() => server.kill('SIGKILL'));
    let accepted = 0;
    let stop = false;
    const senders = Array.from({ length: 2 }, async (_, lane) => {
      for (let from = lane << 20; !stop; from += 500) {
        assert.equal((await postSignals(server.url, KEY, batch(from, 500))).status, 200);
        accepted += 500;
      }
      return lane;
    });
    await eventually(() => assert.ok(accepted >= 3000));
    const posted = await postSignals(server.url, KEY, batch(3 << 20, 1000));
    assert.equal(posted.status, 200);
    const { code, stdout, stderr } = await run(['backup', backup, '--json'], settings);
    assert.equal(code, 0, stderr);
    const { files, unlanded } = JSON.parse(stdout) as { files: { name: string }[]; unlanded: number };
    assert.deepEqual(
      files.map(({ name }) => name),
      ['weir.db', 'stream.db'],
    );
    assert.ok(unlanded >= 0);
    stop = true;
    await Promise.all(senders);

    assert.equal(statSync(backup).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(backup).sort(), ['backup.json', 'stream.db', 'weir.db']);
    for (const name of readdirSync(backup)) assert.equal(statSync(join(backup, name)).mode & 0o777, 0o600, name);

    const restored = settingsOf('restored');
    await commandText(['restore', backup], restored);
    const db = new DatabaseSync(join(restored.DATA_DIR, 'weir.db'), { readOnly: true });
    t.after(() => db.close());
    const mark = db.prepare("SELECT value FROM counters WHERE name = 'restored_at'").get();
    assert.ok(Number(mark!.value) > Date.parse(JSON.parse(readFileSync(join(backup, 'backup.json'), 'utf8')).at), 'D61.3');
    const other = await startAndLand(restored);
    t.after(() => other.kill('SIGKILL'));
    const there = await targets(restored);
    for (const { ip } of batch(3 << 20, 1000)) assert.ok(there.has(ip), ip);
    // Each lane landed in order and without a hole.
    for (const lane of [0, 1]) {
      const own = [...there].filter((ip) => ip.startsWith(`10.${lane << 4}.`)).length;
      for (let n = 0; n < own; n += 1) assert.ok(there.has(address((lane << 20) + n)), `${n} of lane ${lane}`);
    }
    assert.equal((await postSignals(other.url, KEY, batch(4 << 20, 1))).status, 200, 'it goes on from there');
    await eventually(async () => assert.ok((await getFeed(other.url, KEY)).text.includes(`${address(4 << 20)}/32\n`)));
  });

  test('D11.7 what was accepted and has not landed is in a backup, and lands after the restore', async (t) => {
    const held = settingsOf('held');
    const server = await startWeir({ ...held, ROLES: 'signals' });
    t.after(() => server.kill('SIGKILL'));
    assert.equal((await postSignals(server.url, KEY, batch(0, 700))).status, 200);
    const made = await commandText(['backup', join(folder, 'backups/held')], held);
    assert.match(made, /; 700 messages land after a restore$/m);
    const restored = settingsOf('held-restored');
    await commandText(['restore', join(folder, 'backups/held')], restored);
    const other = await startAndLand(restored);
    t.after(() => other.kill('SIGKILL'));
    assert.equal((await targets(restored)).size, 700);
  });

  const refused = async (args: readonly string[], of: Record<string, string>, says: RegExp) => {
    const { code, stderr } = await command(args, of);
    assert.equal(code, 2);
    assert.match(stderr, says);
  };

  test('D11.7, D36.8 weir backup is refused where there is no store, into a folder with files, and for PostgreSQL and Kafka: each with what does it instead', async () => {
    await refused(['backup', join(folder, 'x')], settingsOf('nowhere'), /there is no store in DATA_DIR/);
    assert.ok(!existsSync(join(folder, 'x')));
    await refused(['backup', backup], settings, /the folder ".*monday" is not empty/);
    const elsewhere = { ...settings, DATABASE_URL: 'postgres://nobody@127.0.0.1:9/x' };
    const withKafka = { ...settings, KAFKA_BROKERS: '127.0.0.1:9' };
    await refused(['backup', join(folder, 'x')], elsewhere, /the store is in PostgreSQL: back up PostgreSQL with pg_dump/);
    await refused(['restore', backup], elsewhere, /the store is in PostgreSQL: put the dump back with pg_restore/);
    await refused(['backup', join(folder, 'x')], withKafka, /the stream is in Kafka: copy weir\.db, .* while weir is stopped/);
    await refused(['restore', backup], withKafka, /the stream is in Kafka: put weir\.db, .* back while weir is stopped/);
  });

  test('D11.7 a damaged store is no backup: the folder stays empty', async () => {
    const damaged = settingsOf('damaged');
    cpSync(backup, damaged.DATA_DIR, { recursive: true });
    const file = join(damaged.DATA_DIR, 'weir.db');
    const bytes = readFileSync(file);
    bytes.fill(0x55, bytes.length >> 1, (bytes.length >> 1) + 8192);
    writeFileSync(file, bytes);
    const into = join(folder, 'backups/damaged');
    assert.notEqual((await command(['backup', into], damaged)).code, 0);
    assert.deepEqual(readdirSync(into), []);
  });

  test('D11.8 weir restore refuses a folder with a store but with --force, and one that a process has open in any case', async (t) => {
    const used = settingsOf('used');
    await commandText(['org', 'create', 'of-before'], used);
    await refused(['restore', backup], used, /has weir\.db already; use --force to replace them/);
    const server = await startWeir(used);
    t.after(() => server.kill('SIGKILL'));
    await refused(['restore', backup, '--force'], used, /a process has .*weir\.db open: stop weir first/);
    assert.equal((await postSignals(server.url, KEY, batch(0, 1))).status, 200, 'the server goes on');
    await server.kill('SIGKILL');
    // What the killed process left beside the files must not be taken for a part of the new ones.
    assert.ok(existsSync(join(used.DATA_DIR, 'weir.db-wal')));
    await commandText(['restore', backup, '--force'], used);
    assert.deepEqual(
      readdirSync(used.DATA_DIR)
        .filter((name) => /\.db/.test(name))
        .sort(),
      ['stream.db', 'weir.db'],
    );
    const orgs = await commandJson<{ name: string }[]>(['org', 'ls'], used);
    assert.deepEqual(
      orgs.map(({ name }) => name),
      ['default'],
    );
  });

  test('D11.8 weir restore takes whole and unchanged backups only', async () => {
    const into = settingsOf('into');
    const copy = join(folder, 'backups/copy');
    const changed = (change: () => void) => {
      rmSync(copy, { recursive: true, force: true });
      cpSync(backup, copy, { recursive: true });
      change();
    };
    changed(() => rmSync(join(copy, 'backup.json')));
    await refused(['restore', copy], into, /is no complete backup of weir: backup\.json is missing/);
    changed(() => rmSync(join(copy, 'stream.db')));
    await refused(['restore', copy], into, /stream\.db in ".*copy" is missing, or is not the file that was backed up/);
    changed(() => writeFileSync(join(copy, 'weir.db'), 'x', { flag: 'a' }));
    await refused(['restore', copy], into, /weir\.db in ".*copy" is missing, or is not the file/);
    mkdirSync(into.DATA_DIR, { recursive: true });
    assert.deepEqual(readdirSync(into.DATA_DIR), []);
  });
});
