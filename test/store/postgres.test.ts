import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { listState, NO_SETTINGS } from '../../src/account/list.ts';
import { stateTag } from '../../src/account/tag.ts';
import type { LandingItem } from '../../src/ports/landing.ts';
import type { Store } from '../../src/ports/store.ts';
import { newBatchId } from '../../src/signal/message/signal-id.ts';
import { missingMigrations } from '../../src/store/migrate.ts';
import { BARE_UPSERT } from '../../src/store/postgres/rule-statements.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { agreementConformance } from '../conformance/agreement.ts';
import { archiveConformance } from '../conformance/archive.ts';
import { archiveDifferenceConformance } from '../conformance/archive-difference.ts';
import { archiveWritersConformance } from '../conformance/archive-writers.ts';
import { bouncerConformance } from '../conformance/bouncers.ts';
import { changesConformance } from '../conformance/changes.ts';
import { deletedConformance } from '../conformance/deleted.ts';
import { feedInputsConformance } from '../conformance/feed-inputs.ts';
import { assertFirstVersion, firstVersion } from '../conformance/first-version.ts';
import { followConformance } from '../conformance/follow.ts';
import { freezeConformance } from '../conformance/freeze.ts';
import { managementConformance } from '../conformance/management.ts';
import { pastConformance } from '../conformance/past.ts';
import { assertPlans } from '../conformance/plans.ts';
import { roomConformance } from '../conformance/room.ts';
import { senderConformance } from '../conformance/senders.ts';
import { sourceConformance } from '../conformance/sources.ts';
import { access, collectingSink, ip, storeConformance, upsert, waf } from '../conformance/store.ts';
import { togetherConformance } from '../conformance/together.ts';
import { undoConformance } from '../conformance/undo.ts';
import { webhookConformance } from '../conformance/webhooks.ts';
import { worthConformance } from '../conformance/worth.ts';
import { makeAuthority, makeCertificate } from '../support/certificates.ts';
import { command } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import {
  administer,
  giveToPostgres,
  noOwnPostgres,
  noPostgres,
  type OwnPostgres,
  type Postgres,
  startOwnPostgres,
  startPostgres,
} from '../support/postgres.ts';
import { recordStatements, searches } from '../support/postgres-plans.ts';
import { needs } from '../support/programs.ts';
import { seededRandom } from '../support/random.ts';
import { eventually } from '../support/weir.ts';

const T0 = 1_800_000_000_000;
const STREAM = 'test-stream';
/** How late an answer may come on a machine that is busy with other things, ms: before the next longer limit. */
const LATE = 4000;

/** A block rule on the n-th address of 10.0.0.0/8. */
function item(workspaceId: string, n: number, listId: string | null = null): LandingItem {
  const network = { family: 4, address: 0x0a000000 + n, prefix: 32 } as const;
  const rule = { name: null, reason: null, labels: null, config: null, expiresAt: null, ruleRef: null, confidence: null, severity: null };
  return {
    record: { offset: n, timestamp: T0, key: workspaceId, headers: {}, value: '{}' },
    workspaceId,
    listId,
    receivedAt: T0,
    batchId: null,
    keyId: null,
    change: { change: 'upsert', kind: 'access_rule', rule: { ...rule, action: 'block', target: { kind: 'ip', network } } },
  };
}

const batch = (partition: number, from: number | null, to: number, items: readonly LandingItem[]) => ({
  streamId: STREAM,
  partition,
  from,
  to,
  items,
  poison: [],
  now: T0,
});

async function makeWorkspace(store: Store): Promise<string> {
  return (await store.createWorkspace((await store.createOrganization('acme', 'active')).id, 'main')).id;
}

async function addresses(store: Store, workspaceId: string): Promise<{ found: string[]; revision: number }> {
  const { rows, sink } = collectingSink();
  const head = await store.snapshot(workspaceId, null, T0, sink);
  return { found: rows.map((row) => row.what), revision: head!.revision };
}

/** What landing has written, by the numbers that both engines give; its counts are those of the rows. */
async function landedState(query: (text: string) => Promise<Record<string, unknown>[]>): Promise<unknown> {
  const tables = {
    access_rules: 'list_pk, id, seq, rule_ref, action, target, reason, expires_at, created_at, updated_at',
    waf_rules: 'workspace_pk, rule_ref, id, seq, "order", created_at, updated_at',
    feed_days: 'workspace_pk, list_pk, day, added, removed, undone',
    batches: 'workspace_pk, first_seq, last_seq, list_pk, batch_id, undoes, undone',
  };
  const state: Record<string, string[]> = {};
  for (const [table, columns] of Object.entries(tables)) {
    const rows = await query(`SELECT ${columns} FROM ${table}`);
    state[table] = rows.map((row) => Object.values(row).map(String).join(' ')).sort();
  }
  // What is kept may differ where the entries of a batch are spread: only what an undo makes of it counts.
  const count = (table: string) => query(`SELECT count(*) AS n FROM ${table}`).then(([row]) => Number(row!.n));
  const sum = (table: string) => query(`SELECT coalesce(sum(rules), 0) AS n FROM ${table}`).then(([row]) => Number(row!.n));
  assert.equal((await count('access_rules')) + (await count('waf_rules')), await sum('rule_counts'));
  assert.equal((await count('access_rules_before')) + (await count('waf_rules_before')), await sum('kept_counts'));
  return state;
}

/** Opens stores and closes them when the test ends. */
const opener = (t: TestContext, url: string) => async () => {
  const store = await openPostgresStore(url);
  t.after(() => store.close());
  return store;
};

describe('PostgreSQL over TLS', { skip: noOwnPostgres() || needs('openssl') }, () => {
  const folder = temporaryFolder({ after });
  const at = (name: string) => join(folder, name);
  let server: OwnPostgres;
  before(async () => {
    await makeAuthority(folder);
    await makeCertificate(folder, 'postgres', '/CN=store', 'subjectAltName=IP:127.0.0.1');
    chmodSync(folder, 0o755);
    giveToPostgres(at('postgres.key'), at('postgres.pem'));
    await makeCertificate(folder, 'client', '/CN=certified', 'extendedKeyUsage=clientAuth');
    // The tests' own user may do everything; the others need TLS and a password, and one of them a certificate too.
    const hba = [
      'host all weir all trust',
      'hostssl all certified all scram-sha-256 clientcert=verify-full',
      'hostssl all all all scram-sha-256',
    ];
    writeFileSync(at('hba'), hba.map((line) => `${line}\n`).join(''));
    const tls = { ssl: 'on', ssl_cert_file: at('postgres.pem'), ssl_key_file: at('postgres.key'), ssl_ca_file: at('ca.pem') };
    server = await startOwnPostgres({ fsync: 'off', ...tls, hba_file: at('hba') });
  });
  after(() => server.stop());

  test('D12.12 sslmode=verify-full: the store is reached over TLS when the authority has signed a certificate of that very address', async (t) => {
    const url = new URL(await server.createDatabase());
    url.search = `?sslmode=verify-full&sslrootcert=${encodeURIComponent(at('ca.pem'))}`;
    const store = await opener(t, url.href)();
    assert.ok((await store.ping()) > T0 / 2);
    const connections = await administer(
      url.href,
      'SELECT ssl, count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE datname = current_database() GROUP BY 1',
    );
    assert.deepEqual(
      connections.map(({ ssl }) => ssl),
      [true],
      'no connection without TLS',
    );

    const elsewhere = new URL(url);
    elsewhere.hostname = 'localhost';
    await assert.rejects(openPostgresStore(elsewhere.href), /does not match certificate's altnames|Hostname\/IP/);
    const stranger = new URL(url);
    stranger.search = `?sslmode=verify-full&sslrootcert=${encodeURIComponent(at('other/ca.pem'))}`;
    mkdirSync(at('other'));
    await makeAuthority(at('other'));
    await assert.rejects(openPostgresStore(stranger.href), /certificate|signature/);
  });

  test('D17.9 a server that asks for TLS, SCRAM and a client certificate is the store; what it or weir refuses is one sentence', async () => {
    const database = await server.createDatabase();
    const ca = { sslmode: 'verify-full', sslrootcert: at('ca.pem') };
    const certificate = { sslcert: at('client.pem'), sslkey: at('client.key') };
    for (const role of ['service', 'certified']) {
      await administer(database, `CREATE ROLE ${role} LOGIN PASSWORD 'correct-horse'; GRANT ALL ON SCHEMA public TO ${role}`);
    }
    const migrate = async (username: string, parameters: Record<string, string>, password = 'correct-horse') => {
      const url = Object.assign(new URL(database), { username, password, search: String(new URLSearchParams(parameters)) });
      const { code, stderr } = await command(['migrate'], { DATABASE_URL: url.href });
      return `${code} ${stderr}`;
    };
    assert.equal(await migrate('service', ca), '0 ');
    await administer(database, 'GRANT ALL ON ALL TABLES IN SCHEMA public TO certified');
    assert.equal(await migrate('certified', { ...ca, ...certificate }), '0 ');

    const elsewhere = { ...ca, sslrootcert: at('postgres.pem') };
    const refused = [
      await migrate('service', ca, 'wrong-one'),
      await migrate('service', {}),
      await migrate('service', elsewhere),
      await migrate('certified', ca),
    ];
    const { pathname } = new URL(database);
    const refuses = 'PostgreSQL refuses the connection:';
    assert.deepEqual(refused, [
      `2 weir: ${refuses} password authentication failed for user "service"\n`,
      `2 weir: ${refuses} no pg_hba.conf entry for host "127.0.0.1", user "service", database "${pathname.slice(1)}", no encryption\n`,
      '2 weir: PostgreSQL presents an untrusted certificate (sslrootcert of DATABASE_URL): self-signed certificate in certificate chain\n',
      `2 weir: ${refuses} connection requires a valid client certificate\n`,
    ]);
  });
});

describe('PostgreSQL store', { skip: noPostgres() }, () => {
  let postgres: Postgres;
  before(async () => {
    postgres = await startPostgres();
  });
  after(() => postgres.stop());

  // Each test has a copy of one store that is empty and migrated.
  let template: Promise<string> | undefined;
  async function migrated(): Promise<string> {
    const url = await postgres.createDatabase();
    await (await openPostgresStore(url)).close();
    return url;
  }
  async function open(t: TestContext) {
    template ??= migrated();
    const url = await postgres.createDatabase(await template);
    const again = opener(t, url);
    return { url, store: await again(), again, query: (text: string) => administer(url, text) };
  }

  const statements = recordStatements();
  storeConformance({ name: 'postgres', open });
  agreementConformance({ name: 'postgres', open });
  feedInputsConformance({ name: 'postgres', open });
  pastConformance({ name: 'postgres', open });
  undoConformance({ name: 'postgres', open });
  bouncerConformance({ name: 'postgres', open });
  followConformance({ name: 'postgres', open });
  freezeConformance({ name: 'postgres', open });
  archiveConformance({ name: 'postgres', open });
  archiveDifferenceConformance({ name: 'postgres', open });
  archiveWritersConformance({ name: 'postgres', open });
  managementConformance({ name: 'postgres', open });
  roomConformance({ name: 'postgres', open });
  sourceConformance({ name: 'postgres', open });
  webhookConformance({ name: 'postgres', open });
  deletedConformance({ name: 'postgres', open });
  togetherConformance({ name: 'postgres', open });
  senderConformance({ name: 'postgres', open });
  worthConformance({ name: 'postgres', open });
  changesConformance({ name: 'postgres', open });

  test('D36.11 calls for one workspace leave connections for those for others', async (t) => {
    const url = await migrated();
    const store = await openPostgresStore(url, { connections: { reads: 4, changes: 1 } });
    t.after(() => store.close());
    const [one, other] = [await makeWorkspace(store), await makeWorkspace(store)];
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query('BEGIN; LOCK TABLE keys IN ACCESS EXCLUSIVE MODE');
    const waiting = Array.from({ length: 20 }, () => store.keys(one));
    assert.ok(await store.findNamed(other, ''));
    await client.query('COMMIT');
    await client.end();
    assert.equal((await Promise.all(waiting)).flat().length, 0);
  });

  test('D65.8 store postgres: the end of a canary waits for a landing, whose large change begins the time again', async (t) => {
    const { url, store } = await open(t);
    const workspaceId = await makeWorkspace(store);
    await store.createList(workspaceId, 'edge', { ...NO_SETTINGS, canaryKeys: 'lab' });
    await store.updateWorkspace(workspaceId, { protect: ['192.0.2.0/24'] });
    const until = async () => (await store.freezes(workspaceId)).map(({ canary }) => canary?.until);
    const [end] = (await until()) as [number];
    const landing = new Client({ connectionString: url });
    await landing.connect();
    await landing.query('BEGIN; UPDATE workspaces SET revision = revision + 1');
    await landing.query('UPDATE freezes SET until_at = until_at + 60000, staged_at = staged_at + 60000');
    const swept = store.sweep({ now: end, rulesExpiredBefore: 0, auditBefore: 0, limit: 99 });
    await eventually(async () => {
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
      assert.equal((await administer(url, waiting)).length, 1);
    });
    await landing.query('COMMIT');
    await landing.end();
    await swept;
    assert.deepEqual(await until(), [end + 60_000]);
  });

  test('D4.12 store postgres: every statement of the tests above finds its rows through an index', async (t) => {
    const recorded = [...statements];
    assertPlans(await searches((await open(t)).url, recorded));
  });

  test('D1 several replicas that start at once on an empty database make one schema and one first key', async (t) => {
    const url = await postgres.createDatabase();
    const stores = await Promise.all(Array.from({ length: 6 }, opener(t, url)));
    const known = await administer(url, 'SELECT name FROM migrations ORDER BY name');
    assert.deepEqual(
      known,
      missingMigrations('postgres', []).map(({ name }) => ({ name })),
    );
    const made = await Promise.all(
      stores.map((store, n) =>
        store.bootstrap({ hash: createHash('sha256').update(`${n}`).digest(), prefix: `${n}`, onlyWhenEmpty: true }),
      ),
    );
    assert.equal(made.filter(({ created }) => created).length, 1);
    assert.equal(new Set(made.map(({ workspaceId }) => workspaceId)).size, 1);
    assert.equal((await stores[0].keys(made[0].workspaceId)).length, 1);
  });

  test('D1.24 store postgres: a database of 0.2.0 opens with its rules', async (t) => {
    const url = await postgres.createDatabase();
    await administer(url, 'CREATE TABLE migrations (name TEXT COLLATE "C" PRIMARY KEY, applied_at BIGINT NOT NULL)');
    await administer(url, firstVersion('postgres'));
    await assertFirstVersion(await opener(t, url)());
  });

  test('D1 a schema of a newer version is refused', async (t) => {
    const { url } = await open(t);
    await administer(url, "INSERT INTO migrations VALUES ('999-future.sql', 0)");
    await assert.rejects(openPostgresStore(url), /written by a newer weir: it has the migration 999-future\.sql/);
  });

  test('D1 a server that is not there, and a database that is not: the reason is readable', async () => {
    await assert.rejects(openPostgresStore('postgres://weir:secret@127.0.0.1:1/weir'), {
      code: 'STORE_UNAVAILABLE',
      message: /^PostgreSQL does not answer: connect ECONNREFUSED/,
    });
    const url = new URL(await postgres.createDatabase());
    url.pathname = '/nowhere';
    await assert.rejects(openPostgresStore(url.href), {
      code: 'STORE_UNAVAILABLE',
      message: /^PostgreSQL refuses the connection: database "nowhere" does not exist/,
    });
  });

  test('D4 one rule many times in a batch reaches no statement twice', async (t) => {
    const { url, store } = await open(t);
    const workspaceId = await makeWorkspace(store);
    assert.equal(await store.apply(batch(0, null, 3, [item(workspaceId, 1), item(workspaceId, 1), item(workspaceId, 1)])), 'landed');
    assert.deepEqual((await addresses(store, workspaceId)).found, ['10.0.0.1']);
    // What it would be without folding.
    const row = { list_pk: 1, action: 0, levels: 0, target: 'x', created_at: 0, updated_at: 0 };
    const twice = BARE_UPSERT.replace(
      '$1',
      `'${JSON.stringify([
        { ...row, id: 10, seq: 10 },
        { ...row, id: 11, seq: 11 },
      ])}'`,
    );
    await assert.rejects(administer(url, twice), { code: '21000' });
  });

  test('D4 the numbers of rules are never used again', async (t) => {
    const { store } = await open(t);
    const workspaceId = await makeWorkspace(store);
    const ids: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      const { change } = item(workspaceId, 1);
      const { target } = change.change === 'upsert' && change.kind === 'access_rule' ? change.rule : assert.fail();
      await store.apply(batch(0, n === 0 ? null : n * 2, n * 2 + 1, [item(workspaceId, 1)]));
      for await (const { id } of store.rules(workspaceId, { kind: 'access_rule', now: T0 })) ids.push(id);
      const remove = {
        ...item(workspaceId, 1),
        change: { change: 'delete_by_value', kind: 'access_rule', action: 'block', target } as const,
      };
      await store.apply(batch(0, n * 2 + 1, n * 2 + 2, [remove]));
    }
    assert.equal(ids.length, 3);
    assert.ok(ids[0] < ids[1] && ids[1] < ids[2], `${ids}`);
  });

  test('D4.16 landing inserts rules as new ones first, unless most of the last one were there; each is counted once', async (t) => {
    const { store } = await open(t);
    const workspaceId = await makeWorkspace(store);
    const { query } = Client.prototype;
    let tries = 0;
    t.mock.method(Client.prototype, 'query', function (this: Client, ...args: Parameters<typeof query>) {
      const [statement] = args as readonly unknown[];
      const text = typeof statement === 'string' ? statement : String(Reflect.get(statement as object, 'text'));
      if (text.includes('INSERT INTO access_rules (') && text.includes('DO NOTHING RETURNING')) tries += 1;
      return query.apply(this, args);
    });
    const hosts = (from: number) => Array.from({ length: 10 }, (_, i) => item(workspaceId, from + i));
    const tried: number[] = [];
    for (const [n, from] of [0, 9, 18, 18, 18, 100, 110].entries()) {
      tries = 0;
      await store.apply(batch(0, n === 0 ? null : n, n + 1, hosts(from)));
      tried.push(tries);
    }
    // What an earlier test has seen decides about the first; where all were there, the next one looks for them.
    assert.deepEqual(tried.slice(1), [1, 1, 1, 0, 0, 1]);
    assert.equal((await addresses(store, workspaceId)).found.length, 28 + 20);
    assert.equal(await store.ruleCount(workspaceId), 28 + 20);
  });

  test('D5.19 store postgres: the first read of a list without rules is one statement', async (t) => {
    const { store } = await open(t);
    const workspaceId = await makeWorkspace(store);
    const { id, revision } = await store.createList(workspaceId, 'empty', NO_SETTINGS);
    const { query } = Client.prototype;
    let sent = 0;
    t.mock.method(Client.prototype, 'query', function (this: Client, ...args: Parameters<typeof query>) {
      // The commit before is announced meanwhile.
      if (!JSON.stringify(args[0]).includes('NOTIFY')) sent += 1;
      return query.apply(this, args);
    });
    const follow = async (listId: string) => {
      const told: string[] = [];
      const sink = { ...collectingSink().sink, list: (key: string) => void told.push(key), removed: () => undefined };
      const head = await store.follow(workspaceId, listId, T0, { change: 0, lists: new Set(), isNewFeed: true }, sink);
      return { head: head === 'too_far' ? undefined : head, told };
    };
    const { head, told } = await follow(id);
    assert.equal(sent, 1);
    assert.deepEqual([head?.revision, head?.lists.map(({ key }) => key)], [revision, told]);

    await store.apply(batch(0, null, 1, [item(workspaceId, 1, id)]));
    sent = 0;
    assert.ok((await follow(id)).head!.revision > revision);
    assert.ok(sent > 3, 'rules are read in a transaction');
  });

  test('D9.10 nothing is given up of a workspace while a landing holds it, which may be undoing it', async (t) => {
    const { url, store } = await open(t);
    const workspaceId = await makeWorkspace(store);
    const batchId = newBatchId(T0);
    for (const n of [0, 1]) await store.apply(batch(0, n === 0 ? null : n, n + 1, [{ ...item(workspaceId, 1), batchId }]));
    const sweep = () => store.sweep({ now: T0, rulesExpiredBefore: 0, auditBefore: 0, limit: 10, mostPrevious: 0 });
    const undoable = async () => (await store.batch(workspaceId, batchId))!.undoable;
    const landing = new Client(url);
    await landing.connect();
    t.after(() => landing.end());
    await landing.query('BEGIN; SELECT pk FROM workspaces FOR NO KEY UPDATE');
    assert.equal(await sweep(), 1, 'there is more to do');
    assert.equal(await undoable(), true);
    await landing.query('COMMIT');
    while ((await sweep()) > 0);
    assert.equal(await undoable(), false);
  });

  test('D4.15 D4.16 D9.7 random landings and undos leave the same rules as in the embedded store, and all is counted', async (t) => {
    const folder = temporaryFolder(t);
    const embedded = await openSqliteStore(folder);
    t.after(() => embedded.close());
    const { store: postgresStore, query } = await open(t);
    using file = new DatabaseSync(join(folder, 'weir.db'), { readOnly: true });
    const engines = await Promise.all(
      [
        { store: embedded, query: async (text: string) => file.prepare(text).all() },
        { store: postgresStore, query },
      ].map(async (engine) => {
        const places: { workspaceId: string; listId: string | null }[] = [];
        for (let n = 0; n < 2; n += 1) {
          const workspaceId = await makeWorkspace(engine.store);
          const list = await engine.store.createList(workspaceId, 'edge', NO_SETTINGS);
          places.push({ workspaceId, listId: null }, { workspaceId, listId: list.id });
        }
        return { ...engine, places };
      }),
    );
    const random = seededRandom(20_261_122);
    const batches: string[] = [];
    let [at, known] = [0, 20];
    const ref = () => random.pick([null, 'a', 'b', 'c', `r${random.below(known)}`]);
    const block = () => ({ kind: 'access_rule' as const, action: random.pick(['block', 'allow'] as const) });
    const host = () => ip(`192.0.${random.below(1 + known / 200)}.${random.below(200)}`);
    const change = (): LandingItem['change'] => {
      const pick = random.below(100);
      if (pick < 60) {
        const rule = {
          ...block(),
          ruleRef: ref(),
          reason: random.pick(['x', 'y']),
          expiresAt: random.pick([null, T0 + at + random.below(3000)]),
        };
        return upsert(access(host(), rule));
      }
      if (pick < 70) return { change: 'delete', kind: 'access_rule', ruleRef: ref() ?? 'a' };
      if (pick < 85) return { change: 'delete_by_value', ...block(), target: host() };
      if (pick < 92) return { change: 'upsert', kind: 'waf_rule', rule: waf(ref() ?? 'w', { order: random.below(3) }) };
      if (pick < 95) return { change: 'delete', kind: 'waf_rule', ruleRef: ref() ?? 'w' };
      if (pick < 98 || batches.length === 0)
        return { change: 'delete_rules', kind: 'access_rule', ids: [random.below(at + 1), random.below(at + 1)] };
      return { change: 'delete', kind: 'access_rule', ruleRef: 'a' };
    };
    // What is new to both is inserted first; then most is there already; then a landing is written in several steps.
    for (const [n, size] of [30, 30, 3, 150, 1, 40, 2300, 60, 10].entries()) {
      known = [20, 2000][n % 2]!;
      const items: (Pick<LandingItem, 'change' | 'batchId' | 'receivedAt'> & { place: number })[] = [];
      while (items.length < size) {
        const [batchId, place] = [newBatchId(T0 + at), random.below(4)];
        const add = (given: LandingItem['change']) => items.push({ change: given, place, batchId, receivedAt: T0 + at + items.length });
        if (random.below(6) === 0 && batches.length > 0) add({ change: 'undo', batchId: random.pick(batches.slice(-6)) });
        else for (let left = 1 + random.below(size / 3); left > 0 && items.length < size; left -= 1) add(change());
        batches.push(batchId);
      }
      for (const { store, places } of engines) {
        const located = items.map(({ place, ...given }, i): LandingItem => {
          const record = { offset: at + i, timestamp: T0, key: 'k', headers: {}, value: '' };
          return { record, keyId: null, ...places[place]!, ...given };
        });
        const landing = { ...batch(0, at === 0 ? null : at, at + size, located), now: T0 + at };
        assert.equal(await store.apply(landing), 'landed');
      }
      at += size;
      const states = await Promise.all(engines.map(({ query }) => landedState(query)));
      assert.deepEqual(states[1], states[0], `landing ${n} of ${size} items`);
    }
  });

  test('D4 landings on several partitions in the same workspaces neither deadlock nor lose a revision', async (t) => {
    const { store, again } = await open(t);
    const workspaces = [await makeWorkspace(store), await makeWorkspace(store), await makeWorkspace(store)];
    const before = await Promise.all(workspaces.map(async (id) => (await store.directory(id))!));
    const [landings, size] = [25, 30];
    const owners = [store, await again(), await again()];
    const consume = async (owner: Store, partition: number) => {
      for (let n = 0; n < landings; n += 1) {
        // Each partition meets the workspaces, and the same rules, in another order.
        const items = Array.from({ length: size }, (_, i) => {
          const place = partition % 2 === 0 ? i : size - 1 - i;
          return item(workspaces[(place + partition) % workspaces.length], place);
        });
        assert.equal(await owner.apply(batch(partition, n === 0 ? null : n, n + 1, items)), 'landed');
      }
    };
    await Promise.all(owners.map(consume));
    for (const [i, id] of workspaces.entries()) {
      const directory = (await store.directory(id))!;
      assert.equal(directory.revision - before[i].revision, landings * owners.length);
      assert.equal(directory.lists[0].revision - before[i].lists[0].revision, landings * owners.length);
      assert.equal((await addresses(store, id)).found.length, size);
    }
  });

  test('D4 a list that is deleted while signals for it land leaves no rule behind', async (t) => {
    const { url, store, again } = await open(t);
    const workspaceId = await makeWorkspace(store);
    const lander = await again();
    let position: number | null = null;
    for (let round = 0; round < 8; round += 1) {
      const list = await store.createList(workspaceId, 'short-lived', NO_SETTINGS);
      let deleted = false;
      const removal = delay(round * 3).then(async () => {
        await store.deleteList(workspaceId, list.id, { forGood: true });
        deleted = true;
      });
      for (let last = false; !last; ) {
        last = deleted;
        const at: number = position ?? 0;
        const items = Array.from({ length: 20 }, (_, i) => item(workspaceId, i, list.id));
        assert.equal(await lander.apply(batch(0, position, at + 20, items)), 'landed');
        position = at + 20;
      }
      await removal;
    }
    while ((await store.sweep({ now: T0, rulesExpiredBefore: 0, auditBefore: 0, limit: 1000 })) > 0);
    const orphans = await administer(url, 'SELECT count(*)::int AS n FROM access_rules WHERE list_pk NOT IN (SELECT pk FROM lists)');
    assert.deepEqual(orphans, [{ n: 0 }]);
    assert.equal((await addresses(store, workspaceId)).found.length, 20);
  });

  test('D4 a dead letter keeps U+0000 and lone surrogates; such names of workspaces and lists are unknown ones', async (t) => {
    const { store } = await open(t);
    const workspaceId = await makeWorkspace(store);
    const record = { offset: 0, timestamp: T0, key: 'a\0b', headers: { x: 'c\0d', y: '\ud800' }, value: '"\\\\u0000 \0 \ud83d"' };
    const items = [{ ...item(workspaceId, 1), workspaceId: 'w\0', record }, item(workspaceId, 2, 'l\0')];
    await store.apply({ ...batch(0, null, 2, items), poison: [{ record, reason: 'not\0JSON' }] });
    const [poison, unknown] = await store.deadLetters(10);
    const { key, headers, value } = record;
    assert.deepEqual({ key: poison.key, headers: poison.headers, value: poison.value }, { key, headers, value });
    assert.equal(poison.reason, 'not␀JSON');
    assert.deepEqual([unknown.reason, unknown.value], ['unknown workspace w␀', value]);
    assert.deepEqual((await addresses(store, workspaceId)).found, ['10.0.0.2']);
  });

  test('D5 a snapshot is of one instant: its revision and its rules move together', async (t) => {
    const { store, again } = await open(t);
    const workspaceId = await makeWorkspace(store);
    const reader = await again();
    const start = (await store.directory(workspaceId))!.revision;
    let landing = true;
    const snapshots = (async () => {
      let [count, last] = [0, 0];
      for (; landing; count += 1) {
        const { found, revision } = await addresses(reader, workspaceId);
        assert.equal(found.length, (revision - start) * 50);
        assert.ok(revision >= last);
        last = revision;
      }
      return count;
    })();
    for (let n = 0; n < 40; n += 1) {
      const items = Array.from({ length: 50 }, (_, i) => item(workspaceId, n * 50 + i));
      await store.apply(batch(0, n === 0 ? null : n, n + 1, items));
    }
    landing = false;
    assert.ok((await snapshots) > 10);
  });

  test('D5 a sink that throws fails the snapshot with its own error, and the store goes on', async (t) => {
    const { store } = await open(t);
    const workspaceId = await makeWorkspace(store);
    await store.apply(batch(0, null, 1, [item(workspaceId, 1), item(workspaceId, 2)]));
    const fault = new Error('no room');
    const v4 = () => {
      throw fault;
    };
    await assert.rejects(store.snapshot(workspaceId, null, T0, { ...collectingSink().sink, v4 }), (error) => error === fault);
    assert.equal((await addresses(store, workspaceId)).found.length, 2);
  });

  test('D5 Last-Modified: replicas that record at once agree, and the newest snapshot stays', async (t) => {
    const { store, again } = await open(t);
    const workspaceId = await makeWorkspace(store);
    const replicas = [store, await again(), await again()];
    const key = { feedId: null, format: 'plain', family: 'both', action: 'block' };
    const record = (n: number) => replicas[n % 3].recordDocument(workspaceId, key, { hash: `h${n}`, snapshotAt: n, second: 100 });
    const seen = await Promise.all(Array.from({ length: 30 }, (_, i) => record((i * 7) % 30)));
    assert.equal((await record(29)).hash, 'h29');
    const sinces = new Map<string, number>();
    for (const { hash, since } of seen) assert.equal(sinces.set(hash, sinces.get(hash) ?? since).get(hash), since);
    const inOrder = [...sinces].sort(([a], [b]) => Number(a.slice(1)) - Number(b.slice(1))).map(([, since]) => since);
    assert.deepEqual(
      inOrder,
      inOrder.map((_, i) => 100 + i),
    );
  });

  test('D4 a connection that breaks at the commit: landing finds itself done, a creation says that it does not know', async (t) => {
    const { url, store } = await open(t);
    const workspaceId = await makeWorkspace(store);
    const proxy = await startProxy(t, url);
    const flaky = await opener(t, proxy.url)();
    proxy.cutAfter('COMMIT');
    assert.equal(await flaky.apply(batch(0, null, 1, [item(workspaceId, 1)])), 'fenced');
    assert.equal(await store.position(STREAM, 0), 1);
    assert.equal((await addresses(store, workspaceId)).found.length, 1);
    proxy.cutAfter('COMMIT');
    await assert.rejects(flaky.createOrganization('twice', 'active'), /it is unknown whether the change was made$/);
    assert.equal((await store.organizations()).filter(({ name }) => name === 'twice').length, 1);
    // Done again it would find its own change, and be refused.
    const list = (await store.directory(workspaceId))!.lists[0]!;
    proxy.cutAfter('COMMIT');
    const ifMatch = [stateTag(listState(list))];
    await assert.rejects(
      flaky.updateList(workspaceId, list.id, { family: 'v4' }, { ifMatch }),
      /it is unknown whether the change was made$/,
    );
    assert.equal((await store.directory(workspaceId))!.lists[0]!.family, 'v4');
    const { items } = await store.auditPage(workspaceId, { after: null, limit: 100 });
    assert.equal(items.filter(({ event }) => event === 'list changed').length, 1);
    // Before the commit nothing was written: tried again unseen.
    proxy.cutAfter('INSERT INTO organizations');
    await flaky.createOrganization('once', 'active');
    assert.equal((await store.organizations()).filter(({ name }) => name === 'once').length, 1);
  });

  test('D4 after a failover a connection to a server that is read-only now is replaced', async (t) => {
    const { url, again } = await open(t);
    const administration = new URL(url);
    administration.searchParams.set('options', '-c default_transaction_read_only=off');
    const newSessions = (value: string) =>
      administer(administration.href, `ALTER DATABASE ${administration.pathname.slice(1)} SET default_transaction_read_only = ${value}`);
    await newSessions('on');
    const store = await again();
    await assert.rejects(store.createOrganization('too soon', 'active'), {
      code: 'STORE_UNAVAILABLE',
      message: /^PostgreSQL is read-only: /,
    });
    await store.ping();
    await newSessions('off');
    await store.createOrganization('in time', 'active');
    assert.deepEqual(
      (await store.organizations()).map(({ name }) => name),
      ['in time'],
    );
  });

  test('D5 a newer weir that adds a column meanwhile disturbs no poll, although its statements are prepared', async (t) => {
    const url = await postgres.createDatabase();
    const store = await opener(t, url)();
    const { workspaceId } = await store.bootstrap({ hash: Buffer.alloc(32, 1), prefix: 'x', onlyWhenEmpty: true });
    const read = async () => {
      const id = (await store.findNamed(workspaceId, 'default'))!.lists[0]!.id;
      return (await store.snapshot(workspaceId, id, 0, undefined))?.lists;
    };
    const before = await read();
    assert.equal(before?.length, 1);
    await administer(url, 'ALTER TABLE lists ADD COLUMN later TEXT');
    await administer(url, 'ALTER TABLE workspaces ADD COLUMN later TEXT');
    assert.deepEqual(await read(), before);
  });

  test('D4 lost connections are replaced, idle ones and busy ones', async (t) => {
    const { url, store } = await open(t);
    const workspaceId = await makeWorkspace(store);
    const terminate = () =>
      administer(
        url,
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      );
    for (let round = 0; round < 5; round += 1) {
      await Promise.all([store.keyRevision(), store.directory(workspaceId), addresses(store, workspaceId)]);
      const calls = Array.from({ length: 20 }, () => store.directory(workspaceId));
      const [directories] = await Promise.all([Promise.all(calls), terminate()]);
      assert.ok(directories.every((directory) => directory?.name === 'main'));
      assert.equal((await store.organizations()).length, 1);
    }
  });
});

describe('PostgreSQL store, server in trouble', { skip: noOwnPostgres() }, () => {
  let postgres: OwnPostgres;
  before(async () => {
    postgres = await startOwnPostgres();
  });
  after(() => postgres.stop());

  test('D4 kill -9 of the server under landing: it goes on by itself, every batch is there once', async (t) => {
    const store = await opener(t, await postgres.createDatabase())();
    const workspaceId = await makeWorkspace(store);
    const start = (await store.directory(workspaceId))!.revision;
    const [batches, size] = [60, 50];
    const reasons = new Set<string>();
    const landing = (async () => {
      for (let from = 0; from < batches; ) {
        try {
          const position = (await store.position(STREAM, 0)) ?? null;
          from = position ?? 0;
          if (from === batches) break;
          const items = Array.from({ length: size }, (_, i) => item(workspaceId, from * size + i));
          await store.apply(batch(0, position, from + 1, items));
        } catch (error) {
          reasons.add((error as Error).message);
          await delay(100);
        }
      }
    })();
    for (let round = 0; round < 2; round += 1) {
      while (((await store.position(STREAM, 0).catch(() => 0)) ?? 0) < (round + 1) * 20);
      await postgres.kill();
      await delay(300);
      await assert.rejects(store.ping(), { code: 'STORE_UNAVAILABLE', message: /^PostgreSQL does not answer: / });
      await postgres.start();
    }
    await landing;
    const { found, revision } = await addresses(store, workspaceId);
    assert.equal(new Set(found).size, batches * size);
    assert.equal(found.length, batches * size);
    assert.equal(revision - start, batches, 'each batch landed exactly once');
    assert.ok(
      [...reasons].every((reason) => reason.startsWith('PostgreSQL does not answer: ')),
      [...reasons].join('\n'),
    );
  });

  test('D5 a server that hangs: calls end in time with a readable reason, and go on after it', async (t) => {
    const store = await opener(t, await postgres.createDatabase())();
    const workspaceId = await makeWorkspace(store);
    const { sink } = collectingSink();
    await Promise.all([store.ping(), store.snapshot(workspaceId, null, T0, sink)]);
    postgres.pause();
    try {
      /** The words of an error, and by how much it came later than after `seconds`, ms. */
      const timed = async (call: Promise<unknown>, seconds: number) => {
        const begun = performance.now();
        const result = await call.then(
          () => 'answered',
          (error: Error) => error.message,
        );
        const took = performance.now() - begun - seconds * 1000;
        assert.ok(took > -500, `${result}, ${-took} ms early`);
        return { took, result };
      };
      // The third needs a connection more than there are.
      const [ping, snapshot, connection] = await Promise.all([
        timed(store.ping(), 5),
        timed(store.snapshot(workspaceId, null, T0, sink), 10),
        timed(store.keyRevision(), 5),
      ]);
      assert.equal(ping.result, 'PostgreSQL does not answer: no answer within 5 s');
      assert.equal(snapshot.result, 'PostgreSQL does not answer: no answer within 10 s');
      assert.match(connection.result, /^PostgreSQL does not answer: .*connect/);
      for (const { took } of [ping, snapshot, connection]) assert.ok(took < LATE, `${took} ms late`);
    } finally {
      postgres.resume();
    }
    assert.equal((await addresses(store, workspaceId)).found.length, 0);
  });
});

/** Stands between a store and its server, and cuts the connection after the client has sent a text, before the answer comes back. */
async function startProxy(t: TestContext, url: string) {
  const server = new URL(url);
  const sockets = new Set<Socket>();
  let wanted: string | undefined;
  const proxy = createServer((client) => {
    const upstream = connect(Number(server.port), server.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    let cut = false;
    client.on('data', (data) => {
      if (wanted !== undefined && data.includes(wanted)) {
        wanted = undefined;
        cut = true;
      }
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      if (cut) client.destroy();
      else client.write(data);
    });
    client.on('close', () => upstream.end());
    upstream.on('close', () => client.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = proxy.address();
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String(address !== null && typeof address === 'object' ? address.port : 0);
  return {
    url: through.href,
    cutAfter(text: string) {
      wanted = text;
    },
  };
}
