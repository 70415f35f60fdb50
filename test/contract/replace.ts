/** Making a list equal to a content (SPEC D11.4): random histories against a model, over kill -9. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { smallGeo } from '../support/geo.ts';
import { seededRandom } from '../support/random.ts';
import { eventually } from '../support/weir.ts';
import { type Client, type Json, startWorld, type World } from '../support/world.ts';
import { contractSuite, type Engine, type Once } from './engine.ts';

export function replaceContract(engine: Engine): void {
  contractSuite('replacing', engine, (settings, folder) => startWorld({ ...settings, DATA_DIR: folder, ...smallGeo(folder) }), tests);
}

interface Reply extends Json {
  readonly id: string;
  readonly state: string;
  readonly reason: string | null;
  readonly plan: Readonly<Record<string, number>> | null;
  readonly batches: readonly string[];
}

function tests(world: () => World, once: Once): void {
  const ask = async (client: Client, path: string, body?: string | object): Promise<{ status: number; body: Reply }> => {
    const response = await fetch(`${world().weir().url}/v1/manage/replacements${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${client.key}` },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Reply };
  };
  /** Hands a content over in parts; not started yet. */
  const opened = async (client: Client, lines: readonly Json[], perPart = 1000, more: Json = {}) => {
    const { status, body } = await ask(client, '', more);
    assert.equal(status, 201, JSON.stringify(body));
    let parts = 0;
    for (let at = 0; at < lines.length; at += perPart, parts += 1) {
      const part = `${lines
        .slice(at, at + perPart)
        .map((line) => JSON.stringify(line))
        .join('\n')}\n`;
      assert.equal((await ask(client, `/${body.id}/parts?n=${parts}`, part)).status, 200);
    }
    return { id: body.id, start: { parts, lines: lines.length, confirmed: true } };
  };
  const ended = (client: Client, id: string) =>
    eventually(async () => {
      const { body } = await ask(client, `/${id}`);
      assert.ok(['done', 'failed', 'planned'].includes(body.state), body.state);
      return body;
    });
  const replace = async (client: Client, lines: readonly Json[], more?: Json) => {
    const { id, start } = await opened(client, lines, 1000, more);
    const started = await ask(client, `/${id}/start`, start);
    assert.equal(started.status, 202, JSON.stringify(started.body));
    return ended(client, id);
  };
  const address = (n: number) => `20.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
  const targets = async (client: Client) => (await client.rules()).map(({ target }) => String(target)).sort();

  test('D11.4, D15.42 random histories of contents end with each content, and what stays keeps its id, since, reason and labels', async () => {
    const client = await world().client();
    const random = seededRandom(7);
    let kept = new Map<string, Json>();
    for (let round = 0; round < 6; round += 1) {
      const wanted = new Set(Array.from({ length: 300 }, () => address(random.below(500))));
      const lines = [...wanted].map((value, i) => ({
        value,
        expires_in: '7d',
        ...(i % 7 === 0 && { reason: `r${value}`, labels: { n: value } }),
      }));
      const told = await replace(client, lines);
      assert.equal(told.state, 'done', told.reason ?? '');
      const rules = await client.rules();
      assert.deepEqual(rules.map(({ target }) => target).sort(), [...wanted].sort());
      assert.equal(Number(told.plan!.added) + Number(told.plan!.changed) + Number(told.plan!.unchanged), wanted.size);
      for (const rule of rules) {
        const before = kept.get(String(rule.target));
        if (before === undefined) continue;
        assert.deepEqual([rule.id, rule.created_at], [before.id, before.created_at]);
        // What the content does not say, the rule keeps.
        if (before.reason !== null) assert.equal(rule.reason, before.reason);
        if (before.labels !== null) assert.deepEqual(rule.labels, before.labels);
      }
      kept = new Map(rules.map((rule) => [String(rule.target), rule]));
      const again = await replace(client, lines);
      assert.deepEqual([again.state, again.plan!.unchanged, again.batches], ['done', wanted.size, []]);
    }
  });

  test('D11.4 a process that is killed at any instant leaves the old content or the new after the next start', async () => {
    const client = await world().client();
    const random = seededRandom(11);
    let now = Array.from({ length: 2400 }, (_, n) => address(n));
    const lines = (values: readonly string[]) => values.map((value) => ({ value, expires_in: '7d' }));
    assert.equal((await replace(client, lines(now))).state, 'done');
    assert.deepEqual(await targets(client), [...now].sort());
    for (let round = 0; round < 3; round += 1) {
      const next = Array.from({ length: 2400 }, (_, n) => address(n + 1200 * (round + 1)));
      const { id, start } = await opened(client, lines(next));
      const started = ask(client, `/${id}/start`, start).catch(() => undefined);
      await sleep(random.below(500));
      await world().crash();
      await started;
      const { body } = await ask(client, `/${id}`);
      const told = body.state === 'open' ? body : await ended(client, id);
      const expected = told.state === 'done' ? next : now;
      assert.deepEqual(await targets(client), [...expected].sort(), told.state);
      now = expected;
    }
  });

  test('D11.4 a content that is cut changes nothing; so does one that nobody is sure of, until somebody is', async () => {
    const client = await world().client();
    const values = Array.from({ length: 40 }, (_, n) => ({ value: address(n) }));
    assert.equal((await replace(client, values)).state, 'done');
    const before = await targets(client);
    const { id, start } = await opened(client, values.slice(0, 20), 10);
    await ask(client, `/${id}/start`, { ...start, lines: 40 });
    const cut = await ended(client, id);
    assert.deepEqual([cut.state, cut.reason], ['failed', 'the content has 20 lines, but 40 were declared']);
    const missing = await opened(client, values, 10);
    await ask(client, `/${missing.id}/start`, { ...missing.start, parts: 5 });
    assert.match(String((await ended(client, missing.id)).reason), /^part 4 of the content is missing$/);
    const torn = await ask(client, '', {});
    assert.equal((await ask(client, `/${torn.body.id}/parts?n=0`, '{"value":"192.0.2.1"}\n{"value":"192.0.2.')).status, 400);

    const others = await opened(
      client,
      values.map(({ value }) => ({ value: value.replace(/^20/, '21') })),
    );
    await ask(client, `/${others.id}/start`, { ...others.start, confirmed: false });
    const planned = await ended(client, others.id);
    assert.deepEqual([planned.state, planned.plan!.removed, planned.plan!.added, planned.needs_confirmation], ['planned', 40, 40, true]);
    assert.deepEqual(await targets(client), before);
    await ask(client, `/${others.id}/start`, others.start);
    assert.equal((await ended(client, others.id)).state, 'done');
    assert.deepEqual(
      await targets(client),
      before.map((each) => each.replace(/^20/, '21')),
    );
    const done = (await ask(client, `/${others.id}`)).body;
    assert.ok(done.batches.length > 0);
    await world().text(['undo', done.id, '--workspace', client.workspace, '--yes']);
    assert.deepEqual(await targets(client), before);
  });

  once(
    'D11.13, D15.42 whole countries and ASNs of a content in parts wait for somebody to be sure; those that the list has do not',
    async () => {
      const client = await world().client();
      const contents = [{ value: '20.1.1.1' }, { value: 'NL' }, { asn: 'AS64500' }];
      const { id, start } = await opened(client, contents);
      await ask(client, `/${id}/start`, { ...start, confirmed: false });
      const planned = await ended(client, id);
      assert.deepEqual([planned.state, planned.plan!.wide, planned.needs_confirmation], ['planned', 2, true]);
      assert.deepEqual(await targets(client), []);
      await ask(client, `/${id}/start`, start);
      assert.equal((await ended(client, id)).state, 'done');
      assert.deepEqual(await targets(client), ['20.1.1.1', 'AS64500', 'NL']);
      const again = await opened(client, [...contents, { value: '20.1.1.2' }]);
      await ask(client, `/${again.id}/start`, { ...again.start, confirmed: false });
      assert.equal((await ended(client, again.id)).state, 'done');
    },
  );

  once('D11.4 a faulty line holds back every removal; a bound key replaces its list alone; a workspace has four at once', async () => {
    const client = await world().client();
    await replace(client, [{ value: '20.1.1.1' }, { value: '20.1.1.2' }]);
    const faulty = await replace(client, [{ value: '20.1.1.3' }, { place: 'line 2', fault: 'this is wrong' }]);
    assert.deepEqual([faulty.state, faulty.plan!.failed, faulty.plan!.removed], ['done', 1, 0]);
    assert.deepEqual(await targets(client), ['20.1.1.1', '20.1.1.2', '20.1.1.3']);
    await world().text(['list', 'create', 'edge', '--workspace', client.workspace]);
    const [bound] = await world().json(['key', 'create', '--workspace', client.workspace, '--list', 'edge']);
    const other = { ...client, key: String(bound!.key) };
    assert.equal((await ask(other, '', { list: 'default' })).status, 403);
    assert.equal((await replace(other, [{ value: '20.2.2.2' }])).state, 'done');
    assert.deepEqual(
      (await client.rules('access_rule', 'edge')).map(({ target }) => target),
      ['20.2.2.2'],
    );
    const first = await opened(client, [{ value: '20.3.3.3' }]);
    const second = await opened(client, [{ value: '20.4.4.4' }]);
    assert.equal((await ask(client, `/${first.id}/start`, first.start)).status, 409);
    assert.equal((await ask(client, `/${first.id}`)).body.reason, 'another content was sent for the same list');
    assert.equal((await ask(client, `/${second.id}/start`, second.start)).status, 202);
    await ended(client, second.id);
    assert.deepEqual(
      (await client.rules('access_rule', 'default')).map(({ target }) => target),
      ['20.4.4.4'],
    );
    for (let n = 0; n < 5; n += 1) {
      await world().text(['list', 'create', `l${n}`, '--workspace', client.workspace]);
      assert.equal((await ask(client, '', { list: `l${n}` })).status, n < 4 ? 201 : 429);
    }
  });
}
