import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storedMetrics as keptOf, usageReport } from './metrics.ts';

const storedMetrics = (body: Buffer) => {
  const report = usageReport(body);
  return report && keptOf(report);
};

const kept = (value: unknown) => {
  const text = storedMetrics(Buffer.from(JSON.stringify(value)));
  return text === undefined ? undefined : (JSON.parse(text) as { remediation_components: { metrics: { items: object[] }[] }[] });
};
const item = { name: 'dropped', value: 7, unit: 'packet', labels: { origin: 'weir', ip_type: 'ipv4' } };
const component = {
  type: 'firewall',
  name: 'fw-1',
  version: 'v0.0.34',
  os: { name: 'debian', version: '13' },
  utc_startup_timestamp: 1_700_000_000,
  metrics: [{ meta: { window_size_seconds: 900, utc_now_timestamp: 1_700_000_900 }, items: [item] }],
};

test('D14.12 of usage metrics that is kept which bouncers are documented to count, as it was sent', () => {
  assert.deepEqual(kept({ remediation_components: [{ ...component, feature_flags: ['x'] }], log_processors: [1] }), {
    remediation_components: [component],
  });
  assert.deepEqual(kept({ a: 'x'.repeat(200_000) }), { remediation_components: [] });
  for (const wrong of [[], null, 'x', 1]) assert.equal(kept(wrong), undefined);
  assert.equal(storedMetrics(Buffer.from('{')), undefined);
});

test('D14.12 whatever is sent as usage metrics, no more than 4,096 characters are kept', () => {
  const long = 'é"'.repeat(200);
  const many = Array.from({ length: 200 }, (_, n) => ({
    name: long,
    value: n,
    unit: long,
    labels: { [long]: long, b: long, c: long, d: long },
  }));
  const windows = Array.from({ length: 50 }, () => ({ meta: { window_size_seconds: long }, items: many.slice(0, 40) }));
  const bodies = [
    { remediation_components: Array.from({ length: 1000 }, () => ({ ...component, version: long })) },
    {
      remediation_components: [
        { ...component, metrics: [{ items: many }] },
        { ...component, metrics: windows, os: [], name: {} },
      ],
    },
    { remediation_components: [[], null, 7, { metrics: [null], os: { name: 7 } }, { metrics: {}, type: { a: 1 } }] },
    { remediation_components: { length: 5 } },
  ];
  for (const body of bodies) {
    const text = storedMetrics(Buffer.from(JSON.stringify(body)))!;
    assert.ok(text.length <= 4096, String(text.length));
    JSON.parse(text);
  }
  assert.ok(kept(bodies[1])!.remediation_components[0].metrics[0].items.length > 0);
  const deep = `{"remediation_components":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  assert.equal(storedMetrics(Buffer.from(deep)), '{"remediation_components":[]}');
});
