/** What operators watch weir with: alerts, a dashboard, and the page that explains both. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { METRICS } from '../../src/runtime/metrics/metrics.ts';
import { locate, needs } from '../support/programs.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const RULES = 'deploy/prometheus/weir.rules.yml';
const DASHBOARD = 'deploy/grafana/weir.json';
const TYPES = new Map(METRICS.map(({ name, type }) => [name, type]));

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
}

/** The metrics that an expression names. */
function metricsOf(expression: string): string[] {
  return [...expression.matchAll(/\b(?:weir|process)_[a-z_]+/g)].map(([name]) => {
    const whole = name.replace(/_(bucket|sum|count)$/, '');
    return TYPES.get(whole) === 'histogram' ? whole : name;
  });
}

const alerts = () =>
  [...read(RULES).matchAll(/- alert: (\w+)\n([\s\S]*?)(?=\n {6}- alert|$)/g)].map(([, name, body]) => ({ name: name!, body: body! }));

test('D12.7 promtool takes the alerts, and each fires when it should and not otherwise', { skip: needs('promtool') }, () => {
  for (const args of [
    ['check', 'rules', join(ROOT, RULES)],
    ['test', 'rules', join(ROOT, 'test/docs/alerts.yml')],
  ]) {
    const { status, stdout, stderr } = spawnSync(locate('promtool')!, args, { encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
  }
});

test('D12.7 each alert is tested, and docs/operating.md says what it means and how urgent it is', () => {
  const tested = [...read('test/docs/alerts.yml').matchAll(/^ +alertname: (\w+)$/gm)].map(([, name]) => name);
  const told = [...read('docs/operating.md').matchAll(/^### (\w+)\n\n(Page|Ticket)\. .{80}/gm)].map(([, name, urgency]) => [
    name,
    urgency!.toLowerCase(),
  ]);
  assert.ok(alerts().length > 10);
  assert.deepEqual(
    told,
    alerts().map(({ name, body }) => [name, /severity: (\w+)/.exec(body)?.[1]]),
  );
  for (const { name } of alerts()) assert.ok(tested.includes(name), name);
});

test('D12.7 the routes of Alertmanager have each severity, and name only alerts that there are', () => {
  const routes = read('deploy/alertmanager/alertmanager.yml');
  const severities = new Set(alerts().map(({ body }) => /severity: (\w+)/.exec(body)![1]!));
  for (const severity of severities) assert.match(routes, new RegExp(`- matchers: .*severity = "${severity}"`));
  const named = [...routes.matchAll(/\bWeir\w+/g)].map(([name]) => name);
  const known = alerts().map(({ name }) => name);
  assert.deepEqual(
    named.filter((name) => !known.includes(name)),
    [],
  );
});

test('D12.7 no alert shows an id: those that speak of feeds, keys, devices or messages say what names them', () => {
  const texts = alerts().map(({ body }) => /summary: "(.*)"/.exec(body)![1]!);
  for (const text of texts) {
    assert.doesNotMatch(text, /\$labels\.(feed|list|workspace|key)\b/);
    if (/\b(feeds?|keys?|devices|messages|entries)\b/.test(text)) assert.match(text, /: .*(weir |the log |the console)/, text);
  }
});

test('D12.7 the alerts and the dashboard name metrics that exist; the dashboard shows every metric', () => {
  for (const { name, body } of alerts()) {
    const named = metricsOf(body);
    assert.ok(named.length > 0 || name === 'WeirDown', name);
    for (const metric of named) assert.ok(TYPES.has(metric), `${name}: ${metric}`);
  }
  const { panels, templating } = JSON.parse(read(DASHBOARD)) as Dashboard;
  const shown = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsOf(expr)));
  const variables = templating.list.flatMap(({ query }) => (typeof query === 'string' ? [] : metricsOf(query.query)));
  for (const metric of [...shown, ...variables]) assert.ok(TYPES.has(metric), metric);
  assert.deepEqual([...new Set(shown)].sort(), [...TYPES.keys()].sort());
});

test('D12.3 docs/operating.md tells every metric as the page does', () => {
  const rows = [...read('docs/operating.md').matchAll(/^\| `(\w+)` \| (counter|gauge|histogram) \| (.*) \|$/gm)].map(
    ([, name, type, help]) => [name, type, help],
  );
  assert.deepEqual(
    rows,
    METRICS.map(({ name, type, help }) => [name, type, help]),
  );
});
