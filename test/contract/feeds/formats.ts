/** The four dialects (spec 4.5). */
import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { FORMAT_NAMES, FORMATS } from '../../../src/feed/formats/table.ts';
import { eventually } from '../../support/weir.ts';
import type { Once } from '../engine.ts';
import { type FeedWorld, lastModified, upsert } from './world.ts';

const instant = (second: number) => new Date(second * 1000).toISOString().replace('.000Z', 'Z');

export function formatTests(feeds: () => FeedWorld, once: Once): void {
  once('4.5, D5.5 commented of a list: six header lines, whatever its name and description hold', async () => {
    const { list, block, get, reads, set } = await feeds().space();
    const description = 'first\n0.0.0.0/0\r\n\u0085\u2028\u2029x\ty\u001b\u007fz é 😀';
    const id = await list('edge # 1', '--description', description);
    await block(['192.0.2.0/24', '2001:db8::1'], id);
    await reads(`/${id}`, '192.0.2.0/24\n2001:db8::1/128\n');
    const reply = await get(`/${id}?format=commented`);
    const text = [
      '# edge # 1',
      '# first 0.0.0.0/0     x y  z é 😀',
      '# action: block',
      '# family: both',
      `# generated: ${instant(lastModified(reply))}`,
      '# entries: 2',
      '192.0.2.0/24',
      '2001:db8::1/128',
      '',
    ];
    assert.deepEqual(reply.text.split('\n'), text);
    assert.equal(reply.headers['content-type'], 'text/plain; charset=utf-8');
    assert.equal(reply.headers['content-length'], String(Buffer.byteLength(reply.text)));

    // The description is content: another one has a later instant, and the networks stay.
    await set(id, '--description', '😀'.repeat(1000));
    const other = await eventually(async () => {
      const now = await get(`/${id}?format=commented&family=v6&action=block`);
      const both = await get(`/${id}?format=commented`);
      assert.equal(both.text.split('\n')[1], `# ${'😀'.repeat(200)}`);
      assert.equal(now.text.split('\n')[3], '# family: v6');
      return both;
    });
    assert.ok(lastModified(other) > lastModified(reply));
    assert.equal(other.text.split('\n')[4], `# generated: ${instant(lastModified(other))}`);
    assert.notEqual(other.headers.etag, reply.headers.etag);
  });

  once('4.5, D5.5 commented of a workspace: its name, a bare # for the description; the instant stays while the content does', async () => {
    const { name, block, get } = await feeds().space();
    const before = Math.floor(Date.now() / 1000);
    await block(['192.0.2.1']);
    const [first, allowed] = await eventually(async () => {
      const reply = await get('?format=commented');
      assert.match(reply.text, /\n192\.0\.2\.1\/32\n$/);
      return [reply, await get('?format=commented&action=allow&family=v4')];
    });
    const generated = instant(lastModified(first));
    assert.equal(first.text, `# ${name}\n#\n# action: block\n# family: both\n# generated: ${generated}\n# entries: 1\n192.0.2.1/32\n`);
    assert.ok(lastModified(first) >= before && lastModified(first) <= Date.now() / 1000);
    const later = instant(lastModified(allowed));
    assert.equal(allowed.text, `# ${name}\n#\n# action: allow\n# family: v4\n# generated: ${later}\n# entries: 0\n`);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const again = await get('?format=commented');
    assert.deepEqual([again.text, again.headers.etag], [first.text, first.headers.etag]);
  });

  once('4.5 csv_indicator: confidence and severity of the rule, else of the list, else high; classes never merge', async () => {
    const { list, send, get, reads } = await feeds().space();
    const id = await list('indicators', '--severity', 'medium', '--format', 'csv_indicator');
    await send(
      [
        upsert('192.0.2.1'),
        upsert('192.0.2.0/24', { config: { confidence: 'LOW', severity: 'critical' } }),
        upsert('192.0.2.0/25', { config: { severity: 'low' } }),
        upsert('192.0.2.128/25', { config: { severity: 'low', confidence: 'high' } }, { rule_ref: 'joins the one before' }),
        upsert('2001:db8::5', { config: { note: 'a, "b"\n' } }),
        upsert('2001:db8::/32', { config: { confidence: 'medium' } }),
      ].map((envelope) => ({ ...envelope, rule_ref: (envelope.rule_ref as string | undefined)?.replaceAll(' ', '-') })),
      id,
    );
    const rows = [
      '192.0.2.0-192.0.2.255,IP Range,low,critical',
      '192.0.2.0-192.0.2.255,IP Range,high,low',
      '192.0.2.1,IP,high,medium',
      '2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff,IP Range,medium,medium',
      '2001:db8::5,IP,high,medium',
    ];
    const { headers } = await reads('/indicators', `${rows.join('\n')}\n`);
    assert.equal(headers['content-type'], 'text/csv; charset=utf-8');
    assert.equal(headers['x-feed-entry-count'], '5');
    // Merged where no levels are shown, and without a configured default in the workspace's feed.
    assert.equal((await get('/indicators?format=plain')).text, '192.0.2.0/24\n2001:db8::/32\n');
    assert.equal((await get('?format=csv_indicator')).text, `${rows.join('\n').replaceAll(/medium$/gm, 'high')}\n`);
  });

  once('4.5 csv_indicator, D5.6 order: first address, wider first, then confidence, then severity, low to critical', async () => {
    const { send, reads } = await feeds().space();
    const levels = ['critical', 'low', 'high', 'medium'];
    const classes = levels.flatMap((confidence) => levels.map((severity) => ({ confidence, severity })));
    const networks = ['192.0.2.4/31', '192.0.2.4/32', '192.0.2.8/32'];
    // The wider network in half of the classes, the host in the other half, another host in all.
    const envelopes = classes.flatMap((config, i) =>
      [networks[i % 2]!, networks[2]!].map((ip, j) => upsert(ip, { config }, { rule_ref: `class-${i}-${j}` })),
    );
    await send(envelopes);
    const rank = ['low', 'medium', 'high', 'critical'];
    const ordered = rank.flatMap((confidence) => rank.map((severity) => `${confidence},${severity}`));
    const has = (network: string) => {
      const own = envelopes.filter(({ rule }) => (rule as { target: { ip: string } }).target.ip === network);
      const names = own.map(({ rule }) => Object.values((rule as { config: object }).config).join(','));
      return ordered.filter((name) => names.includes(name));
    };
    const rows = [
      ...has(networks[0]!).map((name) => `192.0.2.4-192.0.2.5,IP Range,${name}`),
      ...has(networks[1]!).map((name) => `192.0.2.4,IP,${name}`),
      ...has(networks[2]!).map((name) => `192.0.2.8,IP,${name}`),
    ];
    assert.equal(rows.length, 32);
    await reads('?format=csv_indicator', `${rows.join('\n')}\n`);
  });

  once('4.3, D5.1 every alias is plain: the same bytes, the same tag', async () => {
    const { block, get, reads } = await feeds().space();
    await block(['192.0.2.1']);
    const plain = await reads('?format=plain', '192.0.2.1/32\n');
    for (const alias of ['txt', 'paloalto', 'panos', 'fortigate', 'fortinet']) {
      const { status, text, headers } = await get(`?format=${alias}`);
      assert.deepEqual([status, text, headers.etag], [200, plain.text, plain.headers.etag], alias);
    }
  });

  once('4.3.5, D5.3 an empty feed: 200, count 0, no bytes but the header of commented; with gzip a valid stream', async () => {
    const { block, get, list } = await feeds().space();
    await list('empty', '--description', 'nothing yet');
    // The rules of another action, family or list do not count.
    await block(['192.0.2.1']);
    for (const target of ['?action=allow&', '?family=v6&', '/empty?']) {
      for (const format of FORMAT_NAMES) {
        const plain = await get(`${target}format=${format}`);
        assert.deepEqual(
          [plain.status, plain.headers['x-feed-entry-count'], plain.headers['content-type']],
          [200, '0', `${FORMATS[format].mediaType}; charset=utf-8`],
        );
        assert.equal(plain.headers['content-length'], String(plain.bytes.length));
        const header = /^# .+\n#.*\n# action: \w+\n# family: \w+\n# generated: \S+\n# entries: 0\n$/;
        if (format === 'commented') assert.match(plain.text, header);
        else if (format === 'mikrotik') assert.match(plain.text, /^# weir, \w+ feed /);
        else assert.equal(plain.bytes.length, 0, format);
        const zipped = await get(`${target}format=${format}`, { headers: { 'accept-encoding': 'gzip' } });
        assert.equal(zipped.headers['content-encoding'], 'gzip');
        assert.ok(zipped.bytes.length > 0);
        assert.equal(gunzipSync(zipped.bytes).toString(), plain.text);
      }
    }
  });
}
