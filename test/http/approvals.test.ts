/** Changes that wait for a second person, through every entry point of a real server (SPEC D67). */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { approvalWorld, DAYS, type Reply, requestIn } from '../support/approvals.ts';
import { command, commandText, newKey, newTenant } from '../support/command.ts';
import { list, listServer } from '../support/list-server.ts';
import { noPostgres } from '../support/postgres.ts';
import { eventually } from '../support/weir.ts';

for (const engine of ['sqlite', 'postgres'] as const) {
  suite(`approvals on ${engine}`, { skip: engine === 'postgres' && noPostgres() }, () => {
    const { settings, call, manage, as, approval, rules, signal, local, approve, write, sql, start, kill } = approvalWorld(engine);
    const old = new Date(Date.now() - 2 * DAYS).toISOString();
    /** Rules of two days ago: removing them is no way back. */
    async function writeOld(listId: string, ip: string): Promise<string> {
      const batch = await write([ip], { organization_id: 'own', list_id: listId, received_at: old });
      await eventually(async () => assert.equal(await rules(ip), 1));
      return batch;
    }
    const waiting: Record<string, string> = {};
    async function allWait(entries: Record<string, () => Promise<Reply>>): Promise<void> {
      for (const [name, entry] of Object.entries(entries)) {
        const { status, body } = await entry();
        assert.equal(status, 409, `${name}: ${JSON.stringify(body)}`);
        waiting[name] = requestIn(body.message);
      }
    }
    let edge = '';

    test('D67.2 D67.4 D67.5 an entry over the limit is an entry error; the others of the request land', async () => {
      const { status, body } = await signal(['192.0.2.1', '8.0.0.0/15', '192.0.2.2']);
      assert.equal(status, 206);
      assert.equal(body.errors.length, 1);
      const id = requestIn(body.errors[0]);
      await eventually(async () => assert.equal(await rules('192.0.2.2'), 1));
      assert.equal(await rules('8.0.0.0/15'), 0);
      // A retry is the same request.
      assert.equal(requestIn((await signal(['8.0.0.0/15'])).body.errors[0]), id);
      // D67.4: keys and one person alone are not enough, viewers may not.
      const { hash } = await approval(id);
      assert.equal((await manage('POST', `/approvals/${id}/approve`, { hash })).status, 403);
      assert.equal((await approve(id, 'eve')).status, 403);
      assert.equal((await approve(id, 'ada')).body.state, 'pending');
      assert.equal((await approve(id, 'ada')).status, 409);
      assert.equal((await as('olga', 'POST', `/approvals/${id}/approve`, { hash: `${hash.slice(0, -1)}x` })).status, 409);
      // Two at once land once.
      const both = await Promise.all(['olga', 'vera'].map((name) => as(name, 'POST', `/approvals/${id}/approve`, { hash })));
      assert.deepEqual(both.map(({ status: each }) => each).sort(), [200, 409]);
      await eventually(async () => assert.equal(await rules('8.0.0.0/15'), 1));
      // D67.5: the way back never waits.
      assert.equal((await manage('POST', '/rules', { value: '8.0.0.0/15', action: 'unblock' })).status, 200);
      await eventually(async () => assert.equal(await rules('8.0.0.0/15'), 0));
    });

    test('D67.9 a foreign message over the limit becomes a request as the position moves; the others land', async () => {
      await write(['13.0.0.0/15', '192.0.2.77'], { person: 'main:vera' });
      await eventually(async () => assert.equal(await rules('192.0.2.77'), 1));
      assert.equal(await rules('13.0.0.0/15'), 0);
      const [{ id, person }] = (await manage('GET', '/approvals')).body.approvals;
      assert.equal(person, null);
      assert.equal((await approve(id, 'ada')).body.state, 'pending');
      assert.equal((await approve(id, 'olga')).body.state, 'applied');
      await eventually(async () => assert.equal(await rules('13.0.0.0/15'), 1));
    });

    test('D67.1 D67.3 D67.6 D67.7 D67.10 D67.13 every entry point waits, and nothing is done', async () => {
      const wide = '9.0.0.0/15';
      edge = (await manage('POST', '/lists', { name: 'edge' })).body.id;
      const many = Array.from({ length: 1100 }, (_, i) => `11.0.${i >> 8}.${i & 255}`).join('\n');
      const before = (await manage('GET', '/rules?limit=1')).body.total;
      await allWait({
        block: () => manage('POST', '/rules', { value: wide }),
        country: () => manage('POST', '/rules', { value: 'NL' }),
        import: () => call('POST', '/v1/manage/imports?confirmed=true', many, { type: 'text/plain' }),
        replace: () => call('POST', '/v1/manage/imports?replace=true&confirmed=true&list=edge', many, { type: 'text/plain' }),
        allow: () => manage('POST', '/allow', { value: wide }),
        policy: () => manage('PATCH', '/workspace', { approval: 'none' }),
        'policy by limit': () => manage('PATCH', '/workspace', { approval_addresses: 100_000 }),
      });
      assert.equal((await manage('GET', '/rules?limit=1')).body.total, before);
      const batch = await writeOld(edge, '12.0.0.0/15');
      assert.equal((await manage('POST', '/feeds', { name: 'perimeter', lists: ['edge'] })).status, 201);
      const [{ id: rule }] = (await manage('GET', '/rules?address=12.0.0.0/15')).body.rules;
      const unblock = [{ type: 'access_rules', action: 'unblock', ip: '12.0.0.0/15' }];
      await allWait({
        'delete a rule': () => manage('DELETE', `/rules/access_rule/${rule}`),
        'delete rules': () => manage('POST', '/rules/delete', { ids: [rule] }),
        expire: () => manage('POST', '/rules/change', { ids: [rule], set: { expires: '1h' } }),
        undo: () => manage('POST', '/undo', { batches: [batch] }),
        unblock: () => manage('POST', '/rules', { value: '12.0.0.0/15', action: 'unblock', list: 'edge' }),
        'unblock by a signal': () => call('POST', '/v1/signal?list=edge', unblock),
        'delete the list': () => manage('DELETE', '/lists/edge?confirmed=true'),
        'delete the feed': () => manage('DELETE', '/feeds/perimeter?confirmed=true'),
        'feed settings': () => manage('PATCH', '/feeds/perimeter', { family: 'v4' }),
        'list settings': () => manage('PATCH', '/lists/edge', { max_entries: 10 }),
        'guard rails': () => manage('PATCH', '/workspace', { protect: ['12.0.0.0/8'] }),
        apply: () => manage('POST', '/workspace/apply', { lists: [{ name: 'edge', max_entries: 10 }] }),
        'apply policy': () => manage('POST', '/workspace/apply', { workspace: { approval: 'none' } }),
        'by a person': () => as('ada', 'PATCH', '/lists/edge', { max_entries: 12 }),
      });
      // D67.10: commands on the host.
      const file = join(settings.DATA_DIR!, 'weir.json');
      writeFileSync(file, JSON.stringify({ lists: [{ name: 'edge', max_entries: 11 }] }));
      waiting['local apply'] = await local('apply', file, '--yes');
      waiting['local settings'] = await local('list', 'set', 'edge', '--max-entries', '13', '--workspace', 'default');
      assert.match((await command(['import', file, '--workspace', 'default'], settings)).stderr, /need approval/);
      assert.equal(await rules('12.0.0.0/15'), 1);
      // Names and descriptions change no feed.
      assert.equal((await manage('PATCH', '/lists/edge', { description: 'hosts that scan us' })).status, 200);
      // D67.13: texts of keys would be lost.
      const keys = { keys: [{ name: 'new', permissions: ['feed:read'] }], lists: [{ name: 'edge', max_entries: 10 }] };
      assert.match((await manage('POST', '/workspace/apply', keys)).body.message, /create the keys first/);
    });

    test('D67.4 D67.6 D67.7 approved operations run once; an emergency needs an administrator', async () => {
      assert.equal((await approve(waiting['list settings']!, 'ada', 'olga')).body.state, 'applied');
      assert.equal((await manage('GET', '/lists/edge')).body.max_entries, 10);
      assert.equal((await approve(waiting['by a person']!, 'ada')).status, 403);
      assert.equal((await approve(waiting['by a person']!, 'olga')).body.state, 'applied');
      const reason = { reason: 'ticket 4711' };
      assert.equal((await manage('POST', `/approvals/${waiting.expire}/force`, reason)).status, 403);
      assert.equal((await as('ada', 'POST', `/approvals/${waiting.expire}/force`, reason)).body.state, 'applied');
      const force = (id: string) => command(['approval', 'force', id, '--reason', 'no console', '--workspace', 'default'], settings);
      assert.match((await force(waiting['local settings']!)).stderr, /has failed: .+ changed/);
      assert.equal((await force(requestIn((await signal(['27.0.0.0/15'])).body.errors[0]))).code, 0);
      assert.equal(await rules('27.0.0.0/15'), 1);
      const { entries: audit } = (await manage('GET', '/audit')).body;
      const forced = audit.filter(({ event }: { event: string }) => event === 'change forced');
      assert.match(JSON.stringify(forced), /no console.+ticket 4711/);
      assert.equal((await as('ada', 'POST', `/approvals/${waiting.policy}/reject`, {})).body.state, 'rejected');
      assert.equal((await approve(waiting.policy!, 'olga')).status, 409);
      const id = requestIn((await as('ada', 'POST', '/rules', { value: '9.0.0.0/15' })).body.message);
      assert.equal((await approve(id, 'ada')).status, 403);
      assert.equal((await approve(id, 'olga')).body.state, 'applied');
      await eventually(async () => assert.equal(await rules('9.0.0.0/15'), 1));
    });

    test('D67.11 a request names objects: their settings may not have changed, its effect may not have grown', async () => {
      // The settings of the workspace have changed since.
      assert.equal((await approve(waiting['local apply']!, 'ada')).status, 409);
      // Another rule of two days ago.
      waiting.grown = requestIn((await manage('PATCH', '/lists/edge', { max_entries: 14 })).body.message);
      assert.equal((await approve(waiting.grown, 'ada')).body.state, 'pending');
      await writeOld(edge, '15.0.0.0/15');
      assert.match((await approve(waiting.grown, 'olga')).body.message, /has grown since/);
      assert.deepEqual((await approval(waiting.grown)).approvers, []);
      assert.equal((await approve(waiting.grown, 'olga', 'ada')).body.state, 'applied');
      // Another list of the same name.
      const ofList = requestIn(
        (await call('POST', '/v1/signal?list=edge', [{ type: 'access_rules', action: 'block', ip: '16.0.0.0/15' }])).body.errors[0],
      );
      assert.equal((await approve(waiting['delete the list']!, 'ada', 'ada', 'olga')).body.state, 'applied');
      const { body } = await manage('POST', '/lists', { name: 'edge' });
      await writeOld(body.id, '17.0.0.0/15');
      waiting.named = requestIn((await manage('PATCH', '/lists/edge', { max_entries: 20 })).body.message);
      await sql(`UPDATE lists SET name = 'other' WHERE id = '${body.id}'`);
      const { body: third } = await manage('POST', '/lists', { name: 'edge' });
      await writeOld(third.id, '18.0.0.0/15');
      assert.match((await approve(waiting.named, 'ada')).body.message, /have changed since/);
      // Its messages would land in the default list.
      assert.equal((await approve(ofList, 'ada')).status, 404);
      // D67.6: restoring it after a day.
      await sql(`UPDATE deleted_lists SET deleted_at = deleted_at - ${2 * DAYS}`);
      await allWait({ restore: () => manage('POST', `/lists/${edge}/restore`, { name: 'edge-2' }) });
      assert.equal((await approve(waiting.restore!, 'ada', 'olga')).body.state, 'applied');
      assert.equal((await manage('GET', '/lists/edge-2')).body.id, edge);
    });

    test('D67.3 a rotated key is no way around', async () => {
      const tenant = await newTenant(settings, { organization: 'default', workspace: 'rotating' });
      const policy = ['--approval', 'all', '--approval-addresses', '1000'];
      assert.equal((await command(['workspace', 'set', 'rotating', ...policy], settings)).code, 0);
      assert.equal((await signal(['20.0.0.0/23'], tenant.key)).status, 200);
      const next = await newKey(settings, 'rotating');
      assert.equal((await signal(['20.0.4.0/23'], next)).status, 206);
    });

    test('D67.14 a change of more percent of the rules of its list waits; an empty list has nothing to lose', async () => {
      const { key } = await newTenant(settings, { organization: 'default', workspace: 'percent' });
      const policy = ['--approval', 'all', '--approval-percent', '50'];
      assert.equal((await command(['workspace', 'set', 'percent', ...policy], settings)).code, 0);
      const some = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `192.0.2.${from + i}`);
      assert.equal((await signal(some(0, 40), key)).status, 200);
      const landed = `SELECT count(*) AS rules FROM access_rules r JOIN lists l ON l.pk = r.list_pk JOIN workspaces w ON w.pk = l.workspace_pk WHERE w.name = 'percent'`;
      await eventually(async () => assert.equal(Number((await sql(landed))[0]!.rules), 40));
      await sql(`DELETE FROM recent_addresses WHERE workspace_pk = (SELECT pk FROM workspaces WHERE name = 'percent')`);
      assert.match((await signal(some(100, 200), key)).body.errors.at(-1), /more than 50% of 40 /);
    });

    test('D67.1 refreshes of sources wait', async (t) => {
      const server = await listServer();
      after(() => server[Symbol.asyncDispose]());
      server.set('/drop', list('21.0.0.0/16\n'));
      assert.equal((await manage('POST', '/sources', { name: 'drop', url: `${server.url}/drop` })).status, 201);
      const id = await eventually(async () => {
        const { approvals } = (await manage('GET', '/approvals')).body;
        const found = approvals.find(
          ({ state, addresses }: { state: string; addresses: number }) => state === 'pending' && addresses === 65_536,
        );
        assert.ok(found);
        return found.id as string;
      });
      assert.equal(await rules('21.0.0.0/16'), 0);
      assert.equal((await approve(id, 'ada', 'olga')).body.state, 'applied');
      await eventually(async () => assert.equal(await rules('21.0.0.0/16'), 1));
      t.diagnostic('landed in the list of the source');
    });

    test('D67.12 after a crash an approved change is applied once, and nobody has to check it', async () => {
      const [doneBefore, sent] = [waiting.restore!, requestIn((await signal(['22.0.0.0/15'])).body.errors[0])];
      const notDone = requestIn((await manage('PATCH', '/lists/edge-2', { max_entries: 99 })).body.message);
      for (const id of [sent, notDone]) await as('ada', 'POST', `/approvals/${id}/approve`, { hash: (await approval(id)).hash });
      await kill();
      // As a process leaves them that ends after the last approval, or before it could record the end.
      await sql(`UPDATE approvals SET state = 'approved', approved_at = created_at, touched_at = 0 WHERE id IN ('${sent}', '${notDone}')`);
      await sql(
        `UPDATE approvals SET state = 'approved', touched_at = 0, content = (SELECT content FROM approvals WHERE id = '${notDone}') WHERE id = '${doneBefore}'`,
      );
      await start();
      for (const id of [sent, notDone, doneBefore]) await eventually(async () => assert.equal((await approval(id)).state, 'applied'));
      assert.equal((await manage('GET', '/lists/edge-2')).body.max_entries, 99);
      await eventually(async () => assert.equal(await rules('22.0.0.0/15'), 1));
      const acts = await sql(`SELECT count(*) AS acts FROM audit WHERE act = '${doneBefore}'`);
      assert.equal(Number(acts[0]!.acts), 1);
    });

    test('D67.8 D67.9 beyond the limit of requests foreign messages are dead letters, whose replays wait too', async () => {
      const { approvals } = (await manage('GET', '/approvals')).body;
      const left = 100 - approvals.filter(({ state }: { state: string }) => state === 'pending').length;
      for (let i = 0; i < left; i += 1) requestIn((await signal([`${30 + i}.0.0.0/14`])).body.errors[0]);
      assert.match((await signal(['29.0.0.0/14'])).body.errors?.[0] ?? (await signal(['29.0.0.0/14'])).body.message, /its limit/);
      await write(['28.0.0.0/15'], {});
      const letters = async () => (await manage('GET', '/dead-letters')).body.dead_letters;
      await eventually(async () => assert.equal((await letters()).length, 1));
      const [letter] = await letters();
      assert.match(letter.reason, /100 changes of the workspace wait/);
      await commandText(['approval', 'withdraw', waiting.named!, '--workspace', 'default'], settings);
      await allWait({ replay: () => manage('POST', '/dead-letter-replays', { ids: [letter.id] }) });
      await as('ada', 'POST', `/approvals/${waiting.replay}/reject`, {});
      await local('dead-letter', 'replay', String(letter.id));
      assert.equal((await letters()).length, 1);
    });
  });
}
