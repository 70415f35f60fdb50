/** Rules in the management API: found, made, removed, imported, undone, looked up (SPEC D15.31 to D15.40). */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type { AccessList } from '../../src/account/list.ts';
import { PERMISSIONS } from '../../src/account/permission.ts';
import { foreseenMessages } from '../../src/manage/rules/rule-change.ts';
import type { StoredRule } from '../../src/ports/stored/stored-rule.ts';
import { decodeSignalRecord } from '../../src/signal/message/decode.ts';
import { openSqliteStream } from '../../src/stream/sqlite/stream.ts';
import { command, newKey, newTenant } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, bearer, getFeed, type Headers, postSignals, type Reply } from '../support/http.ts';
import { eventually, KEY, startWeir, type Weir } from '../support/weir.ts';

type Json = Record<string, unknown>;
interface Rule extends Json {
  readonly id: number;
  readonly target: string;
  readonly rule_ref: string;
}
interface Answer extends Reply {
  readonly body: Json & {
    readonly rules: Rule[];
    readonly next: string | null;
    readonly batches: string[];
    readonly landed: boolean;
    readonly message: string;
    readonly details: { readonly field: string; readonly message: string }[];
    readonly errors: { readonly place: string; readonly message: string }[];
    readonly feeds: (Json & { readonly kind: string; readonly rules: Rule[] })[];
    readonly undone: Json[];
    readonly sample: Rule[];
    readonly dead_letters: (Json & { readonly id: number })[];
  };
}

suite('management of rules', () => {
  const folder = temporaryFolder({ after });
  const settings = {
    ...{ DATA_DIR: join(folder, 'data'), FEED_REBUILD_SECONDS: '0', RATE_LIMIT_MANAGE: '0', PROTECTED_NETWORKS: '10.0.0.0/8' },
    ...smallGeo(folder),
  };
  let server: Weir;
  before(async () => {
    server = await startWeir(settings);
    await command(['org', 'create', 'acme'], settings);
  });
  after(() => server.kill('SIGKILL'));

  /** A workspace of its own, and requests with a key that may do everything in it. */
  async function space(name: string) {
    const all = PERMISSIONS.flatMap((permission) => ['--permission', permission]);
    const { workspaceId, key } = await newTenant(settings, { organization: 'acme', workspace: name }, ...all);
    async function call(method: string, path: string, body?: unknown, headers: Headers = {}): Promise<Answer> {
      const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
      const reply = await ask(server.url, `/v1/manage${path}`, {
        method,
        headers: { ...bearer(key), ...headers },
        ...(text !== undefined && { body: text }),
      });
      return { ...reply, body: reply.text === '' ? {} : JSON.parse(reply.text) };
    }
    const get = (path: string) => call('GET', path);
    const post = (path: string, body: unknown, headers?: Headers) => call('POST', path, body, headers);
    const done = async (path: string, body: unknown, tries = 5): Promise<Answer['body']> => {
      const answer = await post(path, body);
      if (answer.status === 202) {
        // A busy machine: all of it has landed when its last batch has.
        await eventually(async () => assert.equal((await get(`/batches/${answer.body.batches.at(-1)}`)).status, 200));
        return { ...answer.body, landed: true };
      }
      assert.equal(answer.status, 200, answer.text);
      // Nor are entries counted in time there.
      return answer.body.feeds_reason === undefined || tries === 1 ? answer.body : done(path, body, tries - 1);
    };
    const refsOf = async (query: string) => (await get(`/rules?kind=waf_rule&${query}`)).body.rules.map((rule) => rule.rule_ref);
    const targetsOf = async (query: string) => (await get(`/rules?${query}`)).body.rules.map(({ target }) => target);
    return { workspaceId, key, call, get, post, done, refsOf, targetsOf };
  }

  test('D15.32, D54.20 access rules are found by address, width, a part of the reason, list, action, target kind, label, batch, key, expiry, confidence and severity', async () => {
    const { get, post, done, targetsOf, key } = await space('search');
    await post('/lists', { name: 'edge' });
    await done('/rules', { value: '192.0.2.0/24', labels: { source: 'soc' }, confidence: 'high', severity: 'low', reason: 'scan' });
    const { batches } = await done('/rules', { value: '192.0.2.9', expires: '1h' });
    await done('/rules', { value: '2001:db8::/32', action: 'allow', list: 'edge' });
    await done('/rules', { value: 'AS64500' });
    await done('/rules', { value: 'NL', list: 'edge' });
    const soon = new Date(Date.now() + 7_200_000).toISOString();
    const keyId = (await get('/whoami')).body.key_id;
    for (const [query, expected] of Object.entries({
      '': ['192.0.2.0/24', '192.0.2.9', 'AS64500', '2001:db8::/32', 'NL'],
      'address=192.0.2.9': ['192.0.2.9'],
      'address=192.0.2.9&match=covering': ['192.0.2.0/24', '192.0.2.9'],
      'address=192.0.0.0/16&match=covered': ['192.0.2.0/24', '192.0.2.9'],
      'address=as64500': ['AS64500'],
      'list=edge': ['2001:db8::/32', 'NL'],
      'action=allow': ['2001:db8::/32'],
      'target_kind=country': ['NL'],
      'label=source:soc': ['192.0.2.0/24'],
      'confidence=high&severity=low': ['192.0.2.0/24'],
      'severity=high': [],
      'reason=scan': ['192.0.2.0/24'],
      // D54.20
      'reason_contains=CA': ['192.0.2.0/24'],
      'wider=/32': ['192.0.2.0/24'],
      'wider=64': ['192.0.2.0/24', '192.0.2.9', '2001:db8::/32'],
      [`batch=${batches[0]!.toUpperCase()}`]: ['192.0.2.9'],
      [`key=${keyId}&list=edge`]: ['2001:db8::/32', 'NL'],
      [`expires_before=${soon}`]: ['192.0.2.9'],
      [`expires_from=${soon}&target_kind=ip`]: ['192.0.2.0/24', '2001:db8::/32'],
      'since=1h&action=allow': ['2001:db8::/32'],
      [`since=${soon}`]: [],
    })) {
      assert.deepEqual(await targetsOf(query), expected, query);
      const found: string[] = [];
      for (let next: string | null = ''; next !== null; ) {
        const page: Answer = await get(`/rules?${query}&limit=2${next === '' ? '' : `&after=${encodeURIComponent(next)}`}`);
        found.push(...page.body.rules.map(({ target }) => target));
        next = page.body.next;
      }
      assert.deepEqual(found, expected, `pages of ${query}`);
    }
    const [rule] = (await get('/rules?address=192.0.2.9')).body.rules;
    assert.deepEqual([rule!.batch_id, rule!.key_id], [batches[0], keyId]);
    assert.deepEqual((await get(`/rules/access_rule/${rule!.id}`)).body, rule);
    for (const [query, field] of [
      ['address=x.y', 'address'],
      ['address=NL&match=covered', 'match'],
      ['match=covered', 'match'],
      ['kind=waf_rule&list=edge', 'list'],
      ['type=custom', 'type'],
      ['label=x', 'label'],
      ['since=noon', 'since'],
      ['expires_from=soon', 'expires_from'],
      ['after=3', 'after'],
    ]) {
      const { status, body } = await get(`/rules?${query}`);
      assert.deepEqual([query, status, body.details[0]!.field], [query, 400, field]);
    }
    assert.equal((await get('/rules?list=nothing')).status, 404);
    assert.equal((await getFeed(server.url, key)).status, 200);
  });

  test('D15.31, D15.35 a page goes on behind a list that was deleted since the one before', async () => {
    const { get, post, done, call, targetsOf } = await space('gone');
    const [list] = [(await post('/lists', { name: 'edge' })).body.id, await post('/lists', { name: 'last' })];
    for (const [value, name] of Object.entries({ '192.0.2.1': 'edge', '192.0.2.2': 'edge', '192.0.2.3': 'last' }))
      await done('/rules', { value, list: name, labels: { source: 'soc' } });
    for (const conditions of ['', '&label=source:soc']) {
      const { rules, next } = (await get(`/rules?limit=1${conditions}`)).body;
      assert.deepEqual([rules[0]!.target, next], ['192.0.2.1', `${next!.split('/')[0]}/${rules[0]!.id}`]);
    }
    const { next } = (await get('/rules?limit=1')).body;
    assert.equal((await call('DELETE', `/lists/${list}?confirmed=1`, undefined, { 'if-match': '*' })).status, 200);
    const after = encodeURIComponent(next!);
    for (const conditions of ['', '&label=source:soc']) assert.deepEqual(await targetsOf(`after=${after}${conditions}`), ['192.0.2.3']);
    assert.equal((await done('/rules/delete', { label: 'source:soc', after: next, preview: true })).deleted, 1);
  });

  test('D15.31, D15.32 expression rules come in the order of enforcement, by type, with what agents ignore of them', async () => {
    const { get, post, done, refsOf } = await space('expressions');
    const put = (rule_ref: string, more: Json = {}) =>
      done('/rules/expressions', { kind: 'waf_rule', rule_ref, expression: 'ip.src eq 192.0.2.1', action: 'block', ...more });
    await put('last');
    await put('b', { order: 5 });
    await put('first', { order: -1, type: 'generated', labels: { team: 'web' } });
    await put('a', { order: 5, action: 'ratelimit' });
    assert.deepEqual(await refsOf(''), ['first', 'a', 'b', 'last']);
    assert.deepEqual(await refsOf('type=generated'), ['first']);
    assert.deepEqual(await refsOf('type=custom&action=block'), ['b', 'last']);
    assert.deepEqual(await refsOf('label=team:web'), ['first']);
    const { body } = await get('/rules?kind=waf_rule&limit=3');
    assert.match(String(body.rules[1]!.warning), /agents ignore this rule/);
    assert.deepEqual(await refsOf(`after=${encodeURIComponent(body.next!)}`), ['last']);
    await put('b', { order: 9 });
    assert.deepEqual(await refsOf('limit=10'), ['first', 'a', 'b', 'last']);
    const wrong = await post('/rules/expressions', { kind: 'waf_rule', rule_ref: 'x', expression: 'ip.src eq', action: 'block' });
    assert.deepEqual([wrong.status, wrong.body.details[0]!.field], [400, 'expression']);
    for (const [more, field] of [
      [{ action: 'zap' }, 'action'],
      [{ phase: 'noon' }, 'phase'],
      [{ kind: 'smart_firewall_rule', phase: 'request', action: 'block' }, 'phase'],
    ] as const) {
      const given = { kind: 'waf_rule', rule_ref: 'x', expression: 'ip.src eq 192.0.2.1', action: 'block', ...more };
      const { status, body: fault } = await post('/rules/expressions', given);
      assert.deepEqual([status, fault.details[0]!.field], [400, field]);
    }
    const preview = await done('/rules/expressions', {
      ...{ kind: 'waf_rule', rule_ref: 'y', expression: 'ip.src eq 192.0.2.1', action: 'ratelimit', preview: true },
    });
    assert.deepEqual([preview.batches, preview.preview, (preview.warnings as string[]).length], [[], true, 1]);
    assert.deepEqual(await refsOf(''), ['first', 'a', 'b', 'last']);
  });

  test('D15.33, D15.34 one target is blocked, tried and unblocked: judged as signals are, and answered when it has landed', async () => {
    const { get, post, done, targetsOf } = await space('targets');
    const preview = await done('/rules', { value: '192.0.2.1', preview: true });
    assert.deepEqual([preview.batches, preview.feeds.map((feed) => feed.entries_after)], [[], [1, 1]]);
    assert.deepEqual(await targetsOf(''), []);
    const { batches, landed } = await done('/rules', { value: '192.0.2.1', reason: 'scan' });
    assert.equal(landed, true);
    assert.deepEqual(await targetsOf(''), ['192.0.2.1']);
    assert.equal((await get(`/batches/${batches[0]}`)).body.entries, 1);
    await done('/rules', { value: '192.0.2.1', action: 'unblock' });
    assert.deepEqual(await targetsOf(''), []);
    for (const [body, field, text] of [
      [{ value: '10.1.2.3' }, 'value', /overlaps the protected network 10\.0\.0\.0\/8/],
      [{ value: 'AS99999999' }, 'value', /./],
      [{ value: 'example.org' }, 'value', /must be an address, a network, an AS number or a country/],
      [{ value: '192.0.2.1', expires: '2020-01-01' }, 'expires', /past/],
      [{ value: '192.0.2.1', expires: 'soon' }, 'expires', /is neither an instant in ISO 8601, nor a duration/],
      [{ value: '192.0.2.1', expires: '999999999999' }, 'expires', /./],
      [{ value: '192.0.2.1', list: '' }, 'list', /must not be empty/],
      [{ value: '192.0.2.1', name: 'n', labels: { source: 'soc' } }, 'name', /a block without labels, config/],
      [{ value: '192.0.2.1', name: 'n', action: 'allow' }, 'name', /is only allowed for a block/],
      [{ value: '192.0.2.1', rule_ref: 'a b' }, 'rule_ref', /./],
      [{ value: '192.0.2.1', confidence: 'sure' }, 'confidence', /./],
    ] as const) {
      const { status, body: fault } = await post('/rules', body);
      assert.deepEqual([status, fault.details[0]!.field], [400, field], fault.message);
      assert.match(fault.details[0]!.message, text);
    }
    const several = await post('/rules', { value: '192.0.2.1', rule_ref: 'a b', confidence: 'sure', reason: 'n'.repeat(2000) });
    const places = several.body.details.map(({ field }) => field);
    assert.deepEqual([several.status, places], [400, ['rule_ref', 'confidence']], several.body.message);
    assert(
      several.body.details.every(({ message }) => !message.includes(';')),
      'each fault has a row of its own',
    );
    assert.equal((await post('/rules', { value: '192.0.2.1', list: 'nothing' })).status, 404);
    await done('/rules', { value: '192.0.2.2', name: 'scanner', reason: 'scan', labels: null });
    const [named] = (await get('/rules')).body.rules;
    assert.deepEqual([named!.target, named!.name, named!.reason], ['192.0.2.2', 'scanner', 'scan']);
  });

  test('D33.2, D33.3 rules come sorted by what they have, page by page, with those that have none last, and are counted', async () => {
    const { get, post, done, targetsOf, key } = await space('sorted');
    await post('/lists', { name: 'edge' });
    await done('/rules', { value: '9.9.9.0/24', reason: 'Beta', expires: '2h' });
    await done('/rules', { value: '10.0.0.1', action: 'allow', reason: 'alpha' });
    await done('/rules', { value: 'NL', list: 'edge', expires: '1h' });
    await done('/rules', { value: '9.9.9.9', list: 'edge', reason: 'alpha', rule_ref: 'ref-2', expires: '3h' });
    await done('/rules', { value: 'AS64500', rule_ref: 'ref-1', expires: '30m' });
    const all = ['9.9.9.0/24', '9.9.9.9', '10.0.0.1', 'AS64500', 'NL'];
    const orders = {
      'sort=target': all,
      'sort=target&descending=true': all.toReversed(),
      'sort=size&descending=true': ['9.9.9.0/24', '10.0.0.1', '9.9.9.9', 'NL', 'AS64500'],
      'sort=list': ['9.9.9.0/24', '10.0.0.1', 'AS64500', 'NL', '9.9.9.9'],
      'sort=reason': ['10.0.0.1', '9.9.9.9', '9.9.9.0/24', 'NL', 'AS64500'],
      'sort=reason&descending=true': ['9.9.9.0/24', '10.0.0.1', '9.9.9.9', 'NL', 'AS64500'],
      'sort=expires': ['AS64500', 'NL', '9.9.9.0/24', '9.9.9.9', '10.0.0.1'],
      'sort=rule_ref&action=block': ['AS64500', '9.9.9.9', '9.9.9.0/24', 'NL'],
      'sort=created&descending=true&list=edge': ['9.9.9.9', 'NL'],
      'sort=key&address=9.9.9.9&match=covering': ['9.9.9.0/24', '9.9.9.9'],
    };
    for (const [query, expected] of Object.entries(orders)) {
      assert.deepEqual(await targetsOf(query), expected, query);
      const found: string[] = [];
      for (let next: string | null = ''; next !== null; ) {
        const page: Answer = await get(`/rules?${query}&limit=2${next === '' ? '' : `&after=${encodeURIComponent(next)}`}`);
        found.push(...page.body.rules.map(({ target }) => target));
        next = page.body.next;
      }
      assert.deepEqual(found, expected, `pages of ${query}`);
    }
    // A page goes on where the one before ended, whatever has gone since.
    const page = await get('/rules?sort=target&limit=2');
    await done('/rules/delete', { address: '9.9.9.9' });
    await eventually(async () => assert.equal((await get('/rules/count')).body.rules, 4));
    assert.deepEqual(
      (await get(`/rules?sort=target&limit=2&after=${page.body.next}`)).body.rules.map(({ target }) => target),
      ['10.0.0.1', 'AS64500'],
    );
    assert.deepEqual((await get('/rules/count?action=block')).body, { rules: 3, whole: true });
    for (const query of ['sort=order', 'sort=target&kind=waf_rule', 'sort=target&after=1/2'])
      assert.equal((await get(`/rules?${query}`)).status, 400, query);
    assert.equal((await get(`/rules?sort=target&key=${key.slice(0, 9)}`)).status, 404);
  });

  test('D33.4, D53.9 a text finds rules whose rule_ref begins with it, and reasons that hold it, of all kinds', async () => {
    const { get, done } = await space('named');
    await done('/rules', { value: '192.0.2.1', rule_ref: 'scan-1', reason: 'Port scan' });
    await done('/rules', { value: '192.0.2.2', rule_ref: 'scan_2', reason: 'Port scan' });
    await done('/rules', { value: '192.0.2.3', rule_ref: 'no-scan' });
    await done('/rules/expressions', {
      kind: 'waf_rule',
      rule_ref: 'scanner',
      expression: 'http.request.path eq "/a"',
      action: 'block',
      reason: 'SCAN',
    });
    const { rules, reasons, whole } = (await get('/rules/named?text=scan')).body;
    assert.deepEqual(
      rules.map(({ rule_ref: ref }) => ref),
      ['scan-1', 'scan_2', 'scanner'],
    );
    assert.deepEqual(
      [reasons, whole],
      [
        [
          { kind: 'access_rule', reason: 'Port scan', rules: 2 },
          { kind: 'waf_rule', reason: 'SCAN', rules: 1 },
        ],
        true,
      ],
    );
    const most = async (query: string) => (await get(`/rules/reasons${query}`)).body;
    assert.deepEqual(await most(''), { reasons: [{ reason: 'Port scan', rules: 2 }], rules: 3, whole: true });
    assert.deepEqual(await most('?address=192.0.2.1&match=exact'), {
      reasons: [{ reason: 'Port scan', rules: 1 }],
      rules: 1,
      whole: true,
    });
    assert.equal((await get('/rules/named?text=s')).status, 400);
  });

  test('D46.3 what goes to another list keeps its end, however near that is, also one that was just over', async () => {
    const now = Date.parse('2026-11-20T10:00:00.500Z');
    const nothing = { name: null, reason: null, labels: null, config: null, confidence: null, severity: null, ruleRef: null };
    const target = { kind: 'country', country: 'NL' } as const;
    const ends = [-1, 0, 1, 59, 60, 61, 3600].map((seconds) => (Math.floor(now / 1000) + seconds) * 1000);
    const rules = ends.flatMap((expiresAt, id) =>
      [{ action: 'block', name: 'v1' } as const, { action: 'allow' } as const, { action: 'block' } as const].map((own): StoredRule => {
        const rule = { ...nothing, target, expiresAt, ...own };
        return { id, seq: id, kind: 'access_rule', listId: 'a', createdAt: 0, updatedAt: 0, rule };
      }),
    );
    const plan = { moved: rules, set: [], unchanged: 0, refused: [] };
    const operator = { workspaceId: 'w', organizationId: 'o' };
    const messages = foreseenMessages(operator, plan, { list: { id: 'b' } as AccessList }, now).slice(rules.length);
    const landed = messages.map((message) => decodeSignalRecord({ ...message, offset: 0, timestamp: 0 }));
    assert.deepEqual(
      landed.map((each) => 'change' in each && 'rule' in each.change && [each.change.rule.expiresAt, each.change.rule.name]),
      rules.map(({ rule }) => [rule.expiresAt, rule.name]),
    );
  });

  test('D33.1, D38.6 rules get another expiry, reason or list in place, as one batch that is undone as one; a preview tells what changes', async () => {
    const { get, post, done, call } = await space('change');
    await post('/lists', { name: 'edge' });
    for (const value of ['192.0.2.1', '192.0.2.2', '192.0.2.3'])
      await done('/rules', { value, reason: 'scan', expires: '1h', labels: { a: 'b' } });
    await done('/rules', { value: '192.0.2.3', list: 'edge', reason: 'own' });
    await done('/rules/expressions', { kind: 'waf_rule', rule_ref: 'w', expression: 'http.request.path eq "/a"', action: 'block' });
    const told = async (query = '') =>
      (await get(`/rules?${query}`)).body.rules.map(({ target, reason, expires_at: at }) => [target, reason, at]);
    const before = (await get('/rules')).body.rules;
    const until = new Date(Date.parse('2030-01-01T00:00:00Z')).toISOString();
    const preview = await done('/rules/change', { reason: 'scan', set: { expires: until, reason: 'port scan' }, preview: true });
    assert.deepEqual([preview.changed, preview.expires_at, preview.feeds, preview.batches], [3, until, [], []]);
    assert.deepEqual((await get('/rules')).body.rules, before);
    const { batches, changed } = await done('/rules/change', { reason: 'scan', set: { expires: until, reason: 'port scan' } });
    assert.deepEqual([changed, batches.length], [3, 1]);
    // D38.6: what no person is named for is told all the same.
    const { changes } = (await get('/changes?since=1h&kind=rules')).body as unknown as { changes: Json[] };
    assert.ok(
      changes.some(({ event, renewed, batch_id: id }) => event === 'changed' && renewed === 3 && id === batches[0]),
      JSON.stringify(changes),
    );
    assert.deepEqual(
      await told('reason=port+scan'),
      ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((target) => [target, 'port scan', until]),
    );
    const [one] = (await get('/rules')).body.rules;
    assert.deepEqual(
      [one!.id, one!.labels, one!.created_at, one!.batch_id],
      [before[0]!.id, { a: 'b' }, before[0]!.created_at, batches[0]],
    );
    assert.equal((await done('/rules/change', { reason: 'port scan', set: { expires: until } })).unchanged, 3);
    await done('/undo', { batches });
    assert.deepEqual((await get('/rules')).body.rules, before);

    // One of them cannot go there: the list has such a rule.
    const move = { reason: 'scan', set: { list: 'edge' } };
    const foreseen = await done('/rules/change', { ...move, preview: true });
    assert.deepEqual([foreseen.changed, foreseen.moved, foreseen.refused, foreseen.needs_confirmation], [2, 2, 1, true]);
    assert.deepEqual(foreseen.feeds.map(({ name, entries_before: was, entries_after: is }) => [name, was, is]).sort(), [
      ['change', 2, 2],
      ['default', 2, 1],
      ['edge', 1, 2],
    ]);
    assert.deepEqual([(await post('/rules/change', move)).status, (await get('/rules')).body.rules], [409, before]);
    const moved = await done('/rules/change', { ...move, confirmed: true });
    const edge = (await told('list=edge')).map(([target, reason]) => [target, reason]);
    assert.deepEqual(
      [moved.batches.length, edge.sort()],
      [
        1,
        [
          ['192.0.2.1', 'scan'],
          ['192.0.2.2', 'scan'],
          ['192.0.2.3', 'own'],
        ],
      ],
    );
    assert.equal((await told('list=edge'))[1]![2], before[0]!.expires_at);
    await done('/undo', { batches: moved.batches });
    assert.deepEqual((await get('/rules')).body.rules, before);

    // What is protected since is not made to last longer, but may be given a reason.
    await done('/rules/change', {
      kind: 'waf_rule',
      ids: (await get('/rules?kind=waf_rule')).body.rules.map(({ id }) => id),
      set: { reason: 'r' },
    });
    assert.deepEqual(
      (await get('/rules?kind=waf_rule')).body.rules.map(({ reason }) => reason),
      ['r'],
    );
    const ids = before.map(({ id }) => id);
    const { etag } = (await get('/workspace')).headers;
    await call('PATCH', '/workspace', { protect: ['192.0.2.2/32'] }, { 'if-match': String(etag) });
    await eventually(async () => {
      const longer = await done('/rules/change', { ids, set: { expires: 'never' }, preview: true });
      assert.deepEqual([longer.changed, longer.refusals], [3, [{ rule: '192.0.2.2', why: 'it overlaps the protected network 192.0.2.2' }]]);
    });
    assert.equal((await done('/rules/change', { ids, set: { reason: null }, preview: true })).changed, 4);
    for (const [field, body] of Object.entries({
      ids: { set: { reason: 'x' } },
      set: { ids, set: {} },
      'set.expires': { ids, set: { expires: '1s' } },
      'set.list': { kind: 'waf_rule', ids, set: { list: 'edge' } },
    }))
      assert.equal((await post('/rules/change', body)).body.details[0]!.field, field);
  });

  test('D15.35 rules are deleted by their ids or by conditions, after a preview with a sample', async () => {
    const { get, post, done, targetsOf, call } = await space('deletion');
    for (const [value, source] of Object.entries({ '192.0.2.1': 'a', '192.0.2.2': 'a', '192.0.2.3': 'b', '192.0.2.4': 'b' }))
      await done('/rules', { value, labels: { source } });
    const [first, second] = (await get('/rules')).body.rules;
    const preview = await done('/rules/delete', { label: 'source:a', preview: true });
    assert.deepEqual([preview.deleted, preview.batches, preview.next], [2, [], null]);
    assert.deepEqual(
      preview.sample.map(({ target }) => target),
      ['192.0.2.1', '192.0.2.2'],
    );
    assert.equal((await targetsOf('')).length, 4);
    const ids = [first!.id, first!.id, 999_999];
    assert.equal((await done('/rules/delete', { ids, preview: true })).deleted, 1);
    assert.equal((await done('/rules/delete', { ids })).deleted, 1);
    assert.equal((await call('DELETE', `/rules/access_rule/${second!.id}`)).body.deleted, 1);
    assert.equal((await call('DELETE', `/rules/access_rule/${second!.id}`)).status, 404);
    assert.deepEqual(await targetsOf(''), ['192.0.2.3', '192.0.2.4']);
    const { deleted, batches } = await done('/rules/delete', { label: 'source:b' });
    assert.equal(deleted, 2);
    assert.deepEqual(await targetsOf(''), []);
    const { undone } = await done('/undo', { batches });
    assert.deepEqual([undone[0]!.restores, undone[0]!.batch], [2, batches[0]]);
    assert.deepEqual(await targetsOf(''), ['192.0.2.3', '192.0.2.4']);
    assert.equal((await done('/rules/delete', { label: 'source:c' })).deleted, 0);
    for (const body of [{}, { kind: 'waf_rule' }, { ids: [1], label: 'source:a' }]) {
      assert.deepEqual([(await post('/rules/delete', body)).body.details[0]!.field], ['ids']);
    }
    for (const match of ['exact', 'covering', 'covered'])
      assert.equal((await post('/rules/delete', { match })).body.details[0]!.field, 'match');
    assert.deepEqual(await targetsOf(''), ['192.0.2.3', '192.0.2.4']);
  });

  test('D15.36, D41.17 a file is imported line by line: what is wrong is told by its line, the rest is taken; a preview counts all batches together', async () => {
    const { get, done, post, targetsOf } = await space('import');
    const csv = 'ip,reason\n192.0.2.1,scan\nnonsense,x\n10.0.0.1,inside\nAS64500,net\n';
    const path = '/imports?format=csv&label=source:feed&expires_in=7d&confirmed=1';
    const preview = await done(`${path}&preview=1`, csv);
    assert.deepEqual([preview.accepted, preview.failed, preview.batches], [2, 2, []]);
    const feeds = preview.feeds.map(({ kind, entries_before: was, entries_after: will }) => [kind, was, Number(will) > 0]);
    assert.deepEqual(feeds, [
      ['list', 0, true],
      ['workspace', 0, true],
    ]);
    assert.deepEqual(await targetsOf(''), []);
    const imported = await done(path, csv);
    assert.deepEqual([imported.accepted, imported.failed, imported.landed], [2, 2, true]);
    assert.deepEqual(
      imported.errors.map(({ place }) => place),
      ['line 3', 'line 4'],
    );
    assert.match(imported.errors[1]!.message, /overlaps the protected network/);
    const { body } = await get('/rules');
    assert.deepEqual(
      body.rules.map(({ target, reason, labels, expires_at: expires }) => [target, reason, labels, expires !== null]),
      [
        ['192.0.2.1', 'scan', { source: 'feed' }, true],
        ['AS64500', 'net', { source: 'feed' }, true],
      ],
    );
    const chosen = await done('/imports?preview=1&column=2&skip=1', 'a, report\n7,198.51.100.7,x\n8,198.51.100.8,y\n');
    assert.deepEqual([chosen.accepted, chosen.failed], [2, 0]);
    const hosts = Array.from({ length: 2500 }, (_, n) => `198.18.${n >> 8}.${n & 255}`);
    const large = await done('/imports?preview=1', hosts.join('\n'));
    assert.deepEqual([large.accepted, large.feeds.map((feed) => Number(feed.entries_after) - Number(feed.entries_before))], [2500, [5, 5]]);
    const { batches, accepted } = await done('/imports?file=hosts.txt', hosts.join('\n'));
    assert.deepEqual([accepted, batches.length], [2500, 3]);
    assert.equal((await get('/rules?limit=1000&address=198.18.0.0/16&match=covered')).body.rules.length, 1000);
    await done('/undo', { batches });
    assert.equal((await targetsOf('')).length, 2);
    const signals = [{ schema_version: 2, kind: 'access_rule', op: 'delete', rule: { target: { ip: '192.0.2.1' }, action: 'block' } }];
    assert.equal((await done('/imports', JSON.stringify(signals))).accepted, 1);
    assert.deepEqual(await targetsOf(''), ['AS64500']);
    const line = (ip: string, more: Json = {}) => JSON.stringify({ type: 'access_rules', action: 'block', ip, ...more });
    const unblock = { kind: 'access_rule', op: 'delete', rule: { target: { ip: '198.51.100.1' } } };
    const waf = {
      kind: 'waf_rule',
      op: 'upsert',
      rule_ref: 'r',
      rule: { type: 'odd', expression: 'ip.src eq 192.0.2.1', action: 'block' },
    };
    const lines = [
      ...[line('198.51.100.1'), '{oops}', line('198.51.100.2'), '7', line('198.51.100.3', { type: 'nope' }), '{"ip":"192.0.2.1"}'],
      ...[line('198.51.100.4', { action: 'zap' }), line('10.0.0.1'), JSON.stringify(unblock), JSON.stringify(waf)],
    ];
    const told = [
      [2, /^is not JSON$/],
      [4, /^is not an object$/],
      [5, /^type: must be one of: access_rules$/],
      [6, /^has neither "kind" \(v2\) nor "type" \(v1\), so it is no signal; entries of a list go into a file of their own$/],
      [7, /^action: must be one of: block, unblock$/],
      [8, /overlaps the protected network/],
      [10, /^rule\.type: rule\.type is required/],
    ] as const;
    const mixed = await done('/imports', lines.join('\n'));
    const byLine = mixed.errors.toSorted((a, b) => Number(a.place.slice(5)) - Number(b.place.slice(5)));
    assert.deepEqual(
      byLine.map(({ place }) => place),
      told.map(([number]) => `line ${number}`),
    );
    for (const [i, [, says]] of told.entries()) assert.match(byLine[i]!.message, says);
    assert.deepEqual([mixed.accepted, mixed.failed, await targetsOf('')], [3, 7, ['AS64500', '198.51.100.2']]);
    const array = await done('/imports', `[${line('198.51.100.5')}, 7, ${line('198.51.100.6', { type: 'nope' })}]`);
    assert.deepEqual([array.accepted, array.errors.map(({ place }) => place)], [1, ['entry 1', 'entry 2']]);
    assert.equal((await post('/imports?list=nothing', '192.0.2.1')).status, 404);
    assert.equal((await post('/imports?expires_in=long', '192.0.2.1')).body.details[0]!.field, 'expires_in');
  });

  test('D15.36 of a file that is cut, too large or without entries nothing is taken, and the answer says why and what takes it', async () => {
    const { done, post, targetsOf } = await space('cut');
    await done('/imports', '192.0.2.1\n192.0.2.2\n');
    const many = Array.from({ length: 10_001 }, (_, n) => `198.18.${n >> 8}.${n & 255}`).join('\n');
    const fireHol = '# Entries : 3\n192.0.2.7\n';
    const spamhaus = '{"cidr":"192.0.2.8"}\n{"type":"metadata","records":2}\n';
    const REFUSED: readonly (readonly [file: string, status: number, says: RegExp])[] = [
      [many, 413, /^the file has more than 10000 entries, which exceeds the limit of an import: weir send accepts a file of any size/],
      [`\n${'#\n'.repeat(100_001)}192.0.2.3\n`, 413, /^the file has more than 100000 lines, .* weir send --replace/],
      ['["192.0.2.7", {', 400, /the file is not a JSON array/],
      [fireHol, 400, /the file announces 3 entries but has 1: it is truncated/],
      [spamhaus, 400, /the file announces 2 entries but has 1: it is truncated/],
      [['{"a":', '1,"b":[2]', '}'].join('\n'), 400, /the file is one JSON object/],
      ['', 400, /the file is empty/],
    ];
    for (const [file, status, says] of REFUSED) {
      for (const query of ['', '?preview=1', '?replace=1&confirmed=1', '?replace=1&preview=1']) {
        const answer = await post(`/imports${query}`, file);
        assert.equal(answer.status, status, answer.text);
        assert.match(status === 400 ? answer.body.details[0]!.message : answer.body.message, says);
      }
    }
    for (const file of ['[]', '# nothing\n', 'ip,reason\n']) {
      const answer = await post('/imports', file);
      assert.deepEqual([answer.status, answer.body.details[0]!.field], [400, 'file']);
      assert.match(answer.body.details[0]!.message, /^has no entries: comments, a header and an empty array are none$/);
    }
    const odd = await done('/imports', '[{"a":1}]');
    assert.deepEqual([odd.accepted, odd.failed], [0, 1]);
    assert.match(odd.errors[0]!.message, /^no field is called ip, .* and it is not a signal \(kind or type\)$/);
    assert.deepEqual((await targetsOf('')).sort(), ['192.0.2.1', '192.0.2.2']);
  });

  test('D10.18, D15.36 an import of never-block rules tells which block feeds have their targets all the same, of the first ten', async () => {
    const { done } = await space('never');
    await done('/imports', '192.0.2.1\n192.0.2.2\n');
    for (const query of ['?action=allow&preview=1', '?action=allow']) {
      const told = (await done(`/imports${query}`, '192.0.2.1\n198.51.100.1\n')) as unknown as {
        still_blocked: { target: string; kind: string; step: string }[];
        still_blocked_unknown?: number;
      };
      assert.deepEqual(
        told.still_blocked.map(({ target, kind }) => [target, kind]),
        [
          ['192.0.2.1', 'workspace'],
          ['192.0.2.1', 'list'],
        ],
      );
      assert.match(told.still_blocked[0]!.step, /subtract-allow on$/);
      assert.equal(told.still_blocked_unknown, undefined);
    }
    const many = Array.from({ length: 12 }, (_, n) => `203.0.113.${n}`).join('\n');
    const told = (await done('/imports?action=allow', many)) as unknown as { still_blocked_unknown: number };
    assert.equal(told.still_blocked_unknown, 2);
    assert.equal('still_blocked' in (await done('/imports', '192.0.2.9\n')), false);
  });

  test('D10.18, D15.36 a preview of unblocks tells what stays in which feed, because of what, of plain lists and of signals', async () => {
    const { done, post } = await space('unblocks');
    await post('/lists', { name: 'edge' });
    await done('/imports', '192.0.2.0/24\n192.0.2.1\n198.51.100.1\n203.0.113.1\n');
    await done('/rules', { value: '198.51.100.1', list: 'edge' });
    type Reply = { still_blocked: { target: string; how: string; name: string; way_out: object | null; by: object[] }[] };
    const expected = [
      ['192.0.2.1', 'unblock', 'unblocks', null, [{ target: '192.0.2.0/24', list: 'default' }]],
      ['192.0.2.1', 'unblock', 'default', null, [{ target: '192.0.2.0/24', list: 'default' }]],
      ['198.51.100.1', 'unblock', 'unblocks', { do: 'unblock', lists: ['edge'] }, [{ target: '198.51.100.1', list: 'edge' }]],
      ['198.51.100.1', 'unblock', 'edge', { do: 'unblock', lists: ['edge'] }, [{ target: '198.51.100.1', list: 'edge' }]],
    ];
    const lines = ['192.0.2.1', '198.51.100.1', '203.0.113.1'];
    const signals = lines.map((ip) => JSON.stringify({ type: 'access_rules', action: 'unblock', ip })).join('\n');
    for (const [query, body] of [
      ['?action=unblock&preview=1', lines.join('\n')],
      ['?preview=1', signals],
    ] as const) {
      const { still_blocked: rows } = (await done(`/imports${query}`, body)) as unknown as Reply;
      assert.deepEqual(
        rows.map(({ target, how, name, way_out: way, by }) => [target, how, name, way, by]),
        expected,
      );
    }
    const one = (await done('/rules', { value: '192.0.2.1', action: 'unblock', preview: true })) as unknown as Reply;
    assert.deepEqual(
      one.still_blocked.map(({ name }) => name),
      ['unblocks', 'default'],
    );
    assert.equal('still_blocked' in (await done('/imports?action=unblock', '203.0.113.1\n')), false);
  });

  test('D10.18 a feed of the other family is not told as having what it cannot hold', async () => {
    const { done, post } = await space('families');
    for (const family of ['v4', 'v6']) assert.equal((await post('/lists', { name: family, family })).status, 201);
    for (const list of ['v4', 'v6']) await done(`/imports?list=${list}`, '192.0.2.0/24\n2001:db8::/32\n');
    for (const [value, family] of [
      ['192.0.2.1', 'v4'],
      ['2001:db8::1', 'v6'],
    ]) {
      for (const preview of [true, false]) {
        const told = await done('/rules', { value, action: 'allow', list: 'v6', preview });
        const { still_blocked: rows } = told as unknown as { still_blocked: { name: string; way_out: object | null }[] };
        assert.deepEqual(rows.map(({ name }) => name).sort(), ['families', family]);
      }
    }
  });

  test('D40.1, D40.8, D40.12 an import of a table: rows that are skipped, not understood, or described by what cannot be used', async () => {
    const { done, targetsOf } = await space('table');
    const rows = [
      '198.51.100.0,255.255.255.0,ip,deny,very-high',
      '198.51.100.7/8,,url,deny,',
      '198.51.100.8,,ip,accept,',
      '198.51.100.9,255.0.255.0,ip,deny,',
      '198.51.101.9,,,deny,other',
    ];
    const table = ['ip,mask,indicator_type,action,severity', ...rows, ''].join('\n');
    for (const query of ['?preview=1', '?replace=1&preview=1&confirmed=1', '']) {
      const { accepted, failed, errors, passed, warnings } = await done(`/imports${query}`, table);
      assert.deepEqual([accepted, failed, errors[0]!.place], [2, 1, 'line 5'], query);
      assert.match(errors[0]!.message, /^"255\.0\.255\.0" in "mask" is no mask/);
      assert.deepEqual(passed, [
        { reason: 'the type url is no address', rows: 1 },
        { reason: 'its verdict is accept, and the import is for block', rows: 1 },
      ]);
      assert.deepEqual(warnings, ['2 rows: severity is left out: it must be one of low, medium, high, critical']);
    }
    assert.deepEqual((await targetsOf('')).sort(), ['198.51.100.0/24', '198.51.101.9']);
  });

  test('D11.13, D15.36 a table with an unknown address column blocks no country; countries and ASNs of a file are told first and asked for', async () => {
    const { done, post, targetsOf } = await space('wide');
    const dshield =
      'Start\tEnd\tNetmask\tAttacks\tName\tCountry\temail\n192.88.99.0\t192.88.99.255\t24\t2413\tEXAMPLE\tUS\ta@example.net\n';
    assert.deepEqual([(await done('/imports', dshield)).accepted, await targetsOf('')], [1, ['192.88.99.0/24']]);
    const unknown = await done('/imports', 'badguy,country\n192.0.2.1,NL\n');
    assert.deepEqual([unknown.accepted, unknown.failed], [0, 1]);
    assert.match(unknown.errors[0]!.message, /^"192.0.2.1" looks like an address, but "badguy" is no column of addresses/);

    const wide = 'country\nNL\nNL\nDE\n';
    const preview = await done('/imports?preview=1', wide);
    const { networks, ...counts } = preview.wide as { networks: number };
    assert.deepEqual([counts, networks > 0], [{ countries: 2, asns: 0 }, true]);
    const refused = await post('/imports', wide);
    assert.equal(refused.status, 409);
    assert.match(refused.body.message, /^the file contains 2 countries, [\d,]+ networks?: to do this anyway, send confirmed$/);
    assert.deepEqual(await targetsOf(''), ['192.88.99.0/24']);
    assert.equal((await done('/imports?confirmed=1', wide)).accepted, 3);
    assert.deepEqual((await targetsOf('')).sort(), ['192.88.99.0/24', 'DE', 'NL']);
    assert.equal((await done('/imports?action=unblock', wide)).accepted, 3);
    assert.deepEqual(await targetsOf(''), ['192.88.99.0/24']);
  });

  test('D11.1, D15.36 an import reads JSON by paths and gzip, and tells the rows that it passes over', async () => {
    const { done, post, targetsOf } = await space('shapes');
    const aws = JSON.stringify(
      {
        prefixes: [
          { ip_prefix: '192.88.99.0/25', service: 'A' },
          { ip_prefix: '192.88.99.128/26', service: 'B' },
        ],
      },
      null,
      2,
    );
    assert.equal((await done('/imports?path=prefixes[].ip_prefix&where=service%3DB', aws)).accepted, 1);
    assert.match((await post('/imports', aws)).body.details[0]!.message, /the file is one JSON object/);
    assert.equal((await post('/imports?path=a..b', aws)).body.details[0]!.field, 'path');
    assert.deepEqual(await targetsOf(''), ['192.88.99.128/26']);
    const misp = await done('/imports', 'type,value,to_ids\nip-dst,192.88.99.1,0\nip-src|port,192.88.99.2|443,1\n');
    assert.deepEqual([misp.accepted, misp.passed], [1, [{ reason: 'to_ids is 0: no detection', rows: 1 }]]);
    assert.deepEqual((await targetsOf('')).sort(), ['192.88.99.128/26', '192.88.99.2']);
  });

  test('D15.41 an import that replaces makes the list equal to the file; more than half goes only where it is confirmed', async () => {
    const { done, post, targetsOf } = await space('replace');
    const targets = async () => (await targetsOf('')).sort();
    const hosts = Array.from({ length: 10 }, (_, n) => `192.0.2.${n}`);
    await done('/imports', hosts.join('\n'));
    const named = { kind: 'access_rule', op: 'upsert', rule_ref: 'r-1', rule: { target: { ip: '198.51.100.1' }, action: 'block' } };
    await done('/imports', JSON.stringify([named]));
    const all = [...hosts, '198.51.100.1'];
    assert.deepEqual(await targets(), all);

    const most = [...hosts.slice(0, 6), '192.0.2.77'].join('\n');
    const preview = await done('/imports?replace=1&preview=1', most);
    assert.deepEqual(
      [{ ...(preview.replaced as object), id: undefined }, preview.batches],
      [{ id: undefined, removed: 4, added: 1, changed: 0, unchanged: 6, kept: 1, refused: 0, needs_confirmation: false }, []],
    );
    // A /29, a /31 and a host; then a /30, a /31 and two hosts.
    assert.deepEqual(
      preview.feeds.map((feed) => [feed.entries_before, feed.entries_after]),
      [
        [3, 4],
        [3, 4],
      ],
    );
    assert.deepEqual(await targets(), all);

    const few = hosts.slice(0, 3).join('\n');
    assert.deepEqual(
      { ...((await done('/imports?replace=1&preview=1', few)).replaced as object), id: undefined },
      {
        id: undefined,
        removed: 7,
        added: 0,
        changed: 0,
        unchanged: 3,
        kept: 1,
        refused: 0,
        needs_confirmation: true,
      },
    );
    const refused = await post('/imports?replace=1', few);
    assert.equal(refused.status, 409);
    assert.match(
      refused.body.message,
      /of the 10 rules of the list "default" 7 would be removed, and 0 would be added: to do this anyway, send confirmed$/,
    );
    const faulty = await done('/imports?replace=1', `${most}\nnonsense`);
    assert.deepEqual(
      [faulty.failed, { ...(faulty.replaced as object), id: undefined }],
      [1, { id: undefined, removed: 0, added: 1, changed: 0, unchanged: 6, kept: 1, refused: 0, needs_confirmation: false }],
    );
    assert.deepEqual(await targets(), [...hosts, '192.0.2.77', '198.51.100.1'].sort());

    const replaced = await done('/imports?replace=1', most);
    assert.deepEqual(
      [{ ...(replaced.replaced as object), id: undefined }, replaced.batches.length],
      [{ id: undefined, removed: 4, added: 0, changed: 0, unchanged: 7, kept: 1, refused: 0, needs_confirmation: false }, 1],
    );
    assert.deepEqual(await targets(), [...hosts.slice(0, 6), '192.0.2.77', '198.51.100.1']);
    await done('/imports?replace=1&confirmed=1', few);
    assert.deepEqual(await targets(), [...hosts.slice(0, 3), '198.51.100.1']);

    for (const [path, body, says] of [
      ['/imports?replace=1&action=unblock', few, /unblock is not allowed/],
      ['/imports?replace=1', JSON.stringify([named]), /this file contains signals/],
    ] as const) {
      assert.match((await post(path, body)).body.details[0]!.message, says);
    }
    assert.equal((await post('/imports?replace=1&list=nothing', few)).status, 404);
  });

  test('D44.3, D44.4 an import that changes more than half of the addresses of a list is confirmed; the first one, and one of hosts, are not', async () => {
    const { done, post, targetsOf } = await space('addresses');
    const hosts = Array.from({ length: 60 }, (_, n) => `192.0.2.${n}`);
    const wide = [...hosts, '60.0.0.0/8'].join('\n');
    assert.equal('addresses' in (await done('/imports?preview=1', '16.0.0.0/8\n')), false, 'an empty list');
    for (const replace of ['', 'replace=1&'])
      for (const all of ['16.0.0.0-255.255.255.255', '::/0']) {
        const { status, body } = await post(`/imports?${replace}`, `192.0.2.1\n${all}\n`);
        assert.deepEqual([status, /it would block [\d,]+ IPv[46]/.test(body.message!)], [409, true], all);
        await done(`/imports?${replace}action=allow&preview=1`, `${all}\n`);
      }
    await done('/imports', hosts.join('\n'));
    const ADDED = { action: 'block', family: 4, before: 60, after: 16_777_276, added: 16_777_216, removed: 0, widest: ['60.0.0.0/8'] };
    for (const [path, body] of [
      ['/imports?', '60.0.0.0/8\n203.0.113.1\n'],
      ['/imports?replace=1&', wide],
    ] as const) {
      const preview = await done(`${path}preview=1`, body);
      assert.deepEqual(preview.addresses, [ADDED], path);
      const refused = await post(path, body);
      assert.equal(refused.status, 409);
      assert.match(
        refused.body.message,
        /it would block 16,777,276 IPv4 addresses instead of 60 \(.*60\.0\.0\.0\/8\), more than 50 %: to do this anyway, send confirmed$/,
      );
    }
    assert.equal((await targetsOf('')).length, 60);
    // Hosts and the networks of one are added as they are; those that the list has already add nothing.
    await done('/imports', Array.from({ length: 300 }, (_, n) => `198.51.${n >> 8}.${n & 255}`).join('\n'));
    await done('/imports', '203.0.113.0/24\n');
    await done('/imports?confirmed=1', '60.0.0.0/8\n203.0.113.1\n');
    await done('/imports', '60.0.0.0/8\n60.1.0.0/16\n2001:db8::/48\n');
    await done('/imports?action=unblock', '60.0.0.0/8\n');
    const asked = async (body: object) => (await post('/addresses', JSON.stringify(body))).body as unknown as { faults: string[] };
    assert.match((await asked({ networks: ['60.0.0.0/8', '10.0.0.0/32'] })).faults[0]!, /16,711,680 added/);
    assert.deepEqual((await asked({ networks: ['60.1.0.0/17', '198.51.100.0/24'] })).faults, []);
    assert.match(
      (await asked({ networks: ['2001:db8::/20'], action: 'allow' })).faults[0]!,
      /^it would allow [\d,]+ IPv6 networks of \/64 instead of 0/,
    );
    assert.equal((await post('/addresses', JSON.stringify({ networks: ['NL'] }))).body.details[0]!.field, 'networks');
  });

  test('D44.14 a content with a failed entry removes nothing, and neither its plan nor its question counts a removal', async () => {
    const { done, targetsOf } = await space('failing');
    await done('/imports', '192.0.2.1\n192.0.2.2\n60.0.0.0/8\n');
    const content = '192.0.2.9\n198.51.100.300\n';
    const { replaced, failed } = await done('/imports?replace=1&preview=1', content);
    const asks = ({ removed, needs_confirmation: asked }: Record<string, unknown>) => [removed, asked];
    assert.deepEqual([failed, asks(replaced as Record<string, unknown>)], [1, [0, false]]);
    await done('/imports?replace=1', content);
    assert.deepEqual(await targetsOf(''), ['192.0.2.1', '192.0.2.2', '60.0.0.0/8', '192.0.2.9']);
    // What it adds is asked about as ever, and what is there counts as staying.
    const wide = await done('/imports?replace=1&preview=1', `64.0.0.0/7\n${content}`);
    const kept = {
      action: 'block',
      family: 4,
      before: 16_777_219,
      after: 50_331_651,
      added: 33_554_432,
      removed: 0,
      widest: ['64.0.0.0/7'],
    };
    assert.deepEqual([asks(wide.replaced as Record<string, unknown>), wide.addresses], [[0, true], [kept]]);
  });

  test('D54.2 each address of a pasted report has a verdict: private, protected, never block, blocked, inside a wider block, new', async () => {
    const { done, call, get } = await space('pasted');
    await call('POST', '/lists', { name: 'scanners' });
    await call('PATCH', '/workspace', { protect: ['203.0.113.0/24'] }, { 'if-match': '*' });
    await done('/rules', { value: '198.51.100.0/22', list: 'scanners', reason: 'masscan' });
    await done('/rules', { value: '198.51.100.9' });
    await done('/rules', { value: 'AS64500', list: 'scanners' });
    await done('/rules', { value: '192.0.2.7', action: 'allow' });
    await done('/rules', { value: '192.0.2.8' });
    await done('/undo', { batches: [(await done('/rules', { value: '192.0.2.9' })).batches[0]!] });
    const text = '198[.]51[.]100[.]9 198.51.101.1 192.0.2.7 192.0.2.8 192.0.2.9\nhxxp://10.1.2.3/ 203.0.113.5 2001:db8::1, 10.0.0.1/8';
    let answer!: Answer;
    // A key is known with earlier guard rails for a moment.
    await eventually(async () => {
      answer = await call('POST', '/extract', text);
      assert.match(answer.text, /protected network 203/);
    });
    assert.equal(answer.status, 200, answer.text);
    type Row = { target: string; verdict: string; why: string | null; rule: { target: string; list_name: string } | null; line: number };
    const { found, unclear } = answer.body as unknown as { found: Row[]; unclear: { text: string }[] };
    assert.deepEqual(
      found.map(({ target, verdict, rule }) => [target, verdict, rule && `${rule.target} ${rule.list_name}`]),
      [
        ['198.51.100.9', 'blocked', '198.51.100.9 default'],
        ['198.51.101.1', 'inside', '198.51.100.0/22 scanners'],
        ['192.0.2.7', 'never_block', '192.0.2.7 default'],
        ['192.0.2.8', 'blocked', '192.0.2.8 default'],
        ['192.0.2.9', 'new', null],
        ['10.1.2.3', 'private', null],
        ['203.0.113.5', 'protected', null],
        ['2001:db8::1', 'new', null],
      ],
    );
    assert.match(found[6]!.why!, /protected network 203\.0\.113\.0\/24/);
    assert.deepEqual([found[5]!.line, unclear.map((each) => each.text)], [2, ['10.0.0.1/8']]);
    assert.equal((await get('/rules/count')).body.rules, 5);
    assert.equal((await call('POST', '/extract', 'a'.repeat(1024 * 1024 + 1))).status, 413);
  });

  test('D54.10 a target is allowed with the feeds that need it, as one act; one undo takes back the rule and the settings', async () => {
    const { workspaceId, done, call, get, post, key } = await space('allowed');
    await post('/lists', { name: 'scanners' });
    await post('/feeds', { name: 'perimeter', all_lists: true });
    await done('/rules', { value: '198.51.100.0/22', list: 'scanners' });
    const have = (...expected: readonly [workspace: boolean, perimeter: boolean, scanners: boolean]) =>
      eventually(async () => {
        const feeds = await Promise.all(['', '/perimeter', '/scanners'].map((path) => getFeed(server.url, key, path)));
        assert.deepEqual(
          feeds.map(({ text }) => text.includes('198.51.100.0/22')),
          expected,
        );
      });
    const preview = await done('/allow', { value: '198.51.100.7', preview: true });
    const planned = preview.settings as { kind: string; id: string | null; name: string; subtract_allow: string }[];
    assert.deepEqual(
      planned.map(({ kind, name, subtract_allow }) => `${kind} ${name} ${subtract_allow}`),
      ['workspace allowed on', 'list scanners workspace', 'composed perimeter on'],
    );
    await have(true, true, true);
    assert.equal((await get('/rules')).body.rules.length, 1);
    const allowed = await done('/allow', { value: '198.51.100.7', reason: 'a customer' });
    assert.deepEqual(allowed.still_blocked, []);
    await have(false, false, false);
    const [batch] = allowed.batches;
    const acts = (await get(`/audit?object=${batch}`)).body.entries as { event: string }[];
    assert.deepEqual(acts.map(({ event }) => event).toSorted(), [
      'feed changed',
      'list changed',
      'settings applied',
      'target allowed',
      'workspace changed',
    ]);
    // A feed that was changed since keeps its value.
    await call('PATCH', '/feeds/perimeter', { subtract_allow: 'workspace' }, { 'if-match': '*' });
    assert.deepEqual(((await done('/undo', { batches: [batch], preview: true })).settings as Json[]).length, 2);
    const undone = await done('/undo', { batches: [batch] });
    assert.deepEqual((undone.settings as Json[]).map(({ name, subtract_allow }) => [name, subtract_allow]).toSorted(), [
      ['allowed', 'off'],
      ['scanners', null],
    ]);
    await have(true, true, true);
    assert.equal((await get('/rules?action=allow')).body.rules.length, 0);
    assert.equal((await get('/feeds/perimeter')).body.subtract_allow, 'workspace');
    // The undo is an act, too.
    await done('/undo', { batches: [undone.batches[0]!] });
    await have(false, false, false);
    assert.equal((await get('/rules?action=allow')).body.rules.length, 1);
    const operator = await newKey(settings, workspaceId, '--permission', 'rules:write');
    const asOperator = (body: object) =>
      ask(server.url, '/v1/manage/allow', { method: 'POST', headers: bearer(operator), body: JSON.stringify(body) });
    await call('PATCH', '/workspace', { subtract_allow: 'off' }, { 'if-match': '*' });
    assert.equal((await asOperator({ value: '198.51.100.8' })).status, 403);
    assert.equal((await asOperator({ value: '198.51.100.8', feeds: [] })).status, 200);
    assert.equal((await post('/allow', { value: '198.51.100.9', feeds: ['nonsense'] })).status, 400);
  });

  test('D54.11 a block is split: the fewest blocks without the address, with its reason and expiry, and one undo', async () => {
    const { done, get, post, targetsOf } = await space('split');
    await post('/lists', { name: 'scanners' });
    await done('/rules', {
      value: '198.51.100.0/22',
      list: 'scanners',
      reason: 'masscan',
      expires: '7d',
      labels: { a: 'b' },
      confidence: 'low',
      rule_ref: 'net',
    });
    await done('/rules', { value: '198.51.100.0/24', expires: '30d' });
    await done('/rules', { value: '198.51.102.0/23', list: 'scanners', expires: '1d' });
    await done('/rules', { value: '198.51.100.7' });
    await done('/rules', { value: 'NL' });
    const before = (await get('/rules?address=198.51.100.0/22&list=scanners')).body.rules[0]!;
    const preview = await done('/split', { value: '198.51.100.7', preview: true });
    const parts = [
      '198.51.102.0/23',
      '198.51.101.0/24',
      '198.51.100.128/25',
      '198.51.100.64/26',
      '198.51.100.32/27',
      '198.51.100.16/28',
      '198.51.100.8/29',
      '198.51.100.0/30',
      '198.51.100.4/31',
      '198.51.100.6',
    ];
    const splits = preview.splits as { rule: Json; parts: string[] }[];
    assert.deepEqual(splits.find(({ rule }) => rule.target === '198.51.100.0/22')!.parts, parts);
    const { batches } = await done('/split', { value: '198.51.100.7' });
    assert.equal(batches.length, 1);
    assert.deepEqual(await targetsOf('address=198.51.100.7&match=covering'), []);
    assert.deepEqual((await targetsOf('list=scanners')).toSorted(), parts.toSorted());
    for (const rule of (await get('/rules?list=scanners')).body.rules) {
      assert.deepEqual(
        [rule.reason, rule.labels, rule.confidence, rule.expires_at, rule.rule_ref],
        ['masscan', { a: 'b' }, 'low', before.expires_at, null],
        rule.target,
      );
    }
    await done('/undo', { batches });
    assert.deepEqual((await targetsOf('list=scanners')).toSorted(), ['198.51.100.0/22', '198.51.102.0/23']);
    assert.equal((await targetsOf('address=198.51.100.7&match=covering')).length, 3);
    assert.equal((await post('/split', { value: '203.0.113.1' })).status, 400);
    assert.equal((await post('/split', { value: 'NL' })).status, 400);
    await done('/rules', { value: '2001:db8::/32' });
    await done('/split', { value: '2001:db8::1' });
    assert.deepEqual(
      [(await targetsOf('address=2001:db8::/32&match=covered')).length, await targetsOf('address=2001:db8::1&match=covering')],
      [96, []],
    );
  });

  test('D15.37 batches are listed newest first in pages, shown, and undone with a preview, the newest first', async () => {
    const { get, post, done, targetsOf } = await space('undo');
    const ids: string[] = [];
    for (const value of ['192.0.2.1', '192.0.2.2', '192.0.2.1']) ids.push(...(await done('/rules', { value, reason: value })).batches);
    const first = (await get('/batches?limit=2')).body;
    const rest = (await get(`/batches?after=${first.next}`)).body;
    const listed = [...(first.batches as unknown as Json[]), ...(rest.batches as unknown as Json[])].map(({ id }) => id);
    assert.deepEqual([listed, rest.next], [ids.toReversed(), null]);
    const preview = await done('/undo', { batches: [ids[0], ids[2]], preview: true });
    assert.deepEqual(
      preview.undone.map(({ batch, removes, restores, undone_by: by }) => [batch, removes, restores, by]),
      [
        [ids[2], 0, 1, null],
        [ids[0], 0, 0, null],
      ],
    );
    assert.deepEqual(await targetsOf(''), ['192.0.2.1', '192.0.2.2']);
    const { undone, batches } = await done('/undo', { batches: [ids[0], ids[2]] });
    assert.deepEqual(
      undone.map(({ undone_by: by }) => by),
      batches,
    );
    assert.deepEqual(await targetsOf(''), ['192.0.2.2']);
    assert.equal((await get(`/batches/${ids[2]}`)).body.undone_by, batches[0]);
    assert.equal((await post('/undo', { batches: [ids[2]] })).status, 409);
    assert.equal((await post('/undo', { batches: ['0199f3c2-8a51-7c3e-9d0b-4f1e2a6b7000'] })).status, 404);
    assert.deepEqual((await get('/batches?after=x')).body.details[0]!.field, 'after');
  });

  test('D38.1, D38.2 a batch of expression rules is of no list; who reads rules is told the names of keys, also of devices and bouncers', async () => {
    const { call, done, post } = await space('names');
    const { key: sensor } = (await post('/keys', { name: 'sensor', role: 'operator' })).body as unknown as { key: string };
    const reading = bearer(((await post('/keys', { name: 'reader', permissions: ['rules:read'] })).body as unknown as { key: string }).key);
    const get = async (path: string) => (await call('GET', path, undefined, reading)).body as unknown as Record<string, Json[]>;
    await done('/rules', { value: '192.0.2.1' });
    const expression = { type: 'custom', action: 'block', expression: 'http.request.path contains "/x"' };
    await postSignals(server.url, sensor, [{ kind: 'waf_rule', op: 'upsert', rule_ref: 'x', rule: expression }], '/v2/signal');
    await getFeed(server.url, sensor);
    await ask(server.url, '/v1/decisions/stream?startup=true', { headers: { 'x-api-key': sensor, 'user-agent': 'b/1' } });
    await eventually(async () => {
      const { batches } = await get('/batches');
      assert.deepEqual(
        batches!.map(({ key_name, has_targets, lists, list_id: id }) => [key_name, has_targets, lists, id === null]),
        [
          ['sensor', false, 0, true],
          [batches!.at(-1)!.key_name, true, 1, false],
        ],
      );
      for (const [path, name] of [
        ['/devices', 'devices'],
        ['/bouncers', 'bouncers'],
        ['/rules?kind=waf_rule', 'rules'],
      ] as const)
        assert.deepEqual(
          (await get(path))[name]!.map(({ key_name }) => key_name),
          ['sensor'],
          name,
        );
    });
  });

  test('D9.12, D15.37 of 50 undos of one batch at once one does it, and the others are 409', async () => {
    const { get, post, done, targetsOf } = await space('undone-once');
    const hosts = Array.from({ length: 300 }, (_, n) => `198.51.${n >> 8}.${n & 255}`);
    await done('/imports', hosts.join('\n'));
    const { batches } = await done('/imports', hosts.join(',again\n').replace(/^/, 'value,reason\n'));
    const answers = await Promise.all(Array.from({ length: 50 }, () => post('/undo', { batches })));
    const counted = Object.groupBy(answers, ({ status }) => status);
    assert.deepEqual([counted[200]?.length, counted[409]?.length], [1, 49], JSON.stringify(Object.keys(counted)));
    const [undone] = counted[200]!;
    assert.equal((await get(`/batches/${batches[0]}`)).body.undone_by, undone!.body.batches[0]);
    const changes = (await get('/batches')).body.batches as unknown as Json[];
    assert.equal(changes.filter(({ undoes }) => undoes !== null).length, 1);
    assert.equal((await targetsOf('limit=1000')).length, 300);
  });

  test('D15.38 a look-up says why a target is in feeds, or not, of all feeds or of one', async () => {
    const { get, post, done, key } = await space('explain');
    await post('/lists', { name: 'edge' });
    await done('/rules', { value: '192.0.2.0/24', list: 'edge', reason: 'scan' });
    await done('/rules', { value: '192.0.2.7', list: 'edge' });
    await getFeed(server.url, key);
    const verdicts = async (query: string) =>
      (await get(`/lookup?${query}`)).body.feeds.map(({ name, verdict, rules }) => [name, verdict, rules.map(({ relation }) => relation)]);
    assert.deepEqual(await verdicts('target=192.0.2.7'), [
      ['explain', 'in', ['covering', 'exact']],
      ['default', 'out', []],
      ['edge', 'in', ['covering', 'exact']],
    ]);
    assert.deepEqual(await verdicts('target=192.0.0.0/16&feed=edge'), [['edge', 'partly', ['covered', 'covered']]]);
    assert.deepEqual(await verdicts('target=10.1.1.1&feed=edge&action=allow'), [['edge', 'out', []]]);
    assert.deepEqual(await verdicts('target=AS64500&feed=default'), [['default', 'out', []]]);
    const [whole] = (await get('/lookup?target=192.0.2.7')).body.feeds;
    assert.deepEqual([whole!.entries, whole!.rules_left_out, whole!.rules[0]!.list_name], [1, 0, 'edge']);
    assert.equal((await get('/lookup?target=192.0.2.7&feed=nothing')).status, 404);
    assert.equal((await get('/lookup?target=x.y')).body.details[0]!.field, 'target');
  });

  test('D15.39 dead letters of the workspace are listed, shown whole, sent again and dropped', async () => {
    const { workspaceId: workspace, get, post, call, targetsOf } = await space('letters');
    const event = '{"type":"access_rules","action":"block","ip":"192.0.2.1"}';
    const stream = openSqliteStream(settings.DATA_DIR);
    await stream.publish([
      { key: workspace, headers: { workspace_id: workspace, schema_version: '9' }, value: `${event}${' '.repeat(500)}` },
      { key: workspace, headers: { workspace_id: workspace }, value: '{' },
      // Another workspace's, whatever its key says.
      { key: workspace, headers: { workspace_id: 'another' }, value: event },
    ]);
    await stream.close();
    const letters = await eventually(async () => {
      const { dead_letters: found } = (await get('/dead-letters')).body;
      assert.equal(found.length, 2);
      return found;
    });
    const paged: number[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const { body }: Answer = await get(`/dead-letters?limit=1${next === '' ? '' : `&after=${next}`}`);
      paged.push(...body.dead_letters.map(({ id }) => id));
      next = body.next;
    }
    assert.deepEqual(
      paged,
      letters.map(({ id }) => id),
    );
    assert.deepEqual(
      letters.map(({ value }) => String(value).length),
      [1, 400],
    );
    const [broken, future] = letters;
    assert.equal(String((await get(`/dead-letters/${future!.id}`)).body.value).length, 557);
    assert.equal((await get(`/dead-letters/${broken!.id - 100}`)).status, 404);
    assert.equal((await post('/dead-letter-replays', { ids: [future!.id, 999_999] })).status, 404);
    // Of three at once one sends it.
    const replays = await Promise.all([1, 2, 3].map(() => post('/dead-letter-replays', { ids: [future!.id] })));
    assert.deepEqual(replays.map(({ status }) => status).sort(), [200, 404, 404]);
    assert.deepEqual(replays.find(({ status }) => status === 200)!.body.replayed, [future!.id]);
    assert.equal((await call('DELETE', `/dead-letters/${broken!.id}`)).body.dropped, true);
    // It can still not be landed.
    const again = await eventually(async () => {
      const { dead_letters: found } = (await get('/dead-letters')).body;
      assert.deepEqual([found.length, found[0]!.reason], [1, future!.reason]);
      return found[0]!;
    });
    assert.notEqual(again.id, future!.id);
    assert.deepEqual(await targetsOf(''), []);
  });

  test('D15.40 an expression is tried: its phase and fields, or where it is at fault', async () => {
    const { done } = await space('trying');
    const check = (kind: string, expression: string) => done('/expressions/check', { kind, expression });
    assert.deepEqual(await check('waf_rule', 'ip.src eq 192.0.2.1'), {
      valid: true,
      phase: 'request',
      fields: ['ip.src'],
      hints: [],
      fault: null,
    });
    const { valid, fault } = await check('smart_firewall_rule', 'ip.src in');
    assert.equal(valid, false);
    assert.deepEqual([(fault as Json).line, typeof (fault as Json).text], [1, 'string']);
    assert.match(String((fault as Json).excerpt), /ip\.src in\n.*\^/);
    const { hints } = await check('waf_rule', 'http.request.headers["x"][0] != "a"');
    assert.match(String(hints), /is true of every request without/);
  });

  test('D19.15 an expression is tested on a request: fields, a curl command or a line of a log', async () => {
    const { done, post } = await space('testing');
    const of = (expression: string, request: string) => ({ kind: 'waf_rule', expression, request });
    const tested = await done('/expressions/test', of('http.request.path == "/é" and threat.score > 5', '{"http.request.path": "/é"}'));
    assert.deepEqual([tested.result, tested.lacking, (tested.why as Json).value], [false, ['threat.score'], false]);
    const curl = await done('/expressions/test', of('http.request.host == "shop.example"', 'curl https://shop.example/x'));
    assert.deepEqual([curl.result, (curl.agent as Json).result], [true, false]);
    for (const [body, field] of [
      [of('http.request.path ==', '{}'), 'expression'],
      [of('ip.src == ::1', 'hello'), 'request'],
      [of('ip.src == ::1', '{"http.request.port": "x"}'), 'request'],
    ] as const) {
      const { status, body: fault } = await post('/expressions/test', body);
      assert.equal(status, 400);
      assert.match(JSON.stringify(fault), new RegExp(`"${field}`));
    }
  });

  test('D15.33 what has not landed after 2 seconds is 202 with the address of its batch, and lands later', async () => {
    const own = { ...settings, DATA_DIR: join(folder, 'no-consumer') };
    let waiting = await startWeir({ ...own, BOOTSTRAP_API_KEY: KEY, ROLES: 'signals,manage' });
    const ask2 = (method: string, path: string, body?: string) =>
      ask(waiting.url, path, { method, headers: bearer(KEY), ...(body && { body }) });
    try {
      const { status, headers, text } = await ask2('POST', '/v1/manage/rules', '{"value":"192.0.2.1"}');
      const { batches, landed } = JSON.parse(text);
      assert.deepEqual([status, landed, headers.location], [202, false, `/v1/manage/batches/${batches[0]}`]);
      assert.equal((await ask2('GET', headers.location!)).status, 404);
      assert.equal((await ask2('GET', '/v1/manage/lookup?target=192.0.2.1')).status, 409);
      await waiting.kill('SIGKILL');
      waiting = await startWeir(own);
      await eventually(async () => assert.equal((await ask2('GET', headers.location!)).status, 200));
    } finally {
      await waiting.kill('SIGKILL');
    }
  });
});
