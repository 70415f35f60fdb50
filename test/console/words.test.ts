/** What the console offers comes from the tables and schemas of the service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FEED_SETTINGS } from '../../src/account/feed.ts';
import { LIST_SETTINGS } from '../../src/account/list.ts';
import { PERMISSIONS } from '../../src/account/permission.ts';
import { ROLES } from '../../src/account/role.ts';
import { readConsole } from '../../src/http/console/files.ts';
import { REASONS } from '../../src/http/console/sign-in.ts';
import { tableModules } from '../../src/http/console/tables.ts';
import { KINDS } from '../../src/rule.ts';

interface Field {
  readonly field: string;
  readonly label: string;
  readonly maxlength?: number;
  readonly options?: (string | { readonly value: string })[];
}
interface Tables {
  readonly PERMISSIONS: { readonly value: string }[];
  readonly ROLES: { readonly value: string; readonly permissions: string[] }[];
  readonly EVENTS: string[];
}

/** A module of the console, which has no types here. */
const load = (path: string): Promise<unknown> => import(new URL(`../../packages/console/${path}`, import.meta.url).href);
const served = (path: string): Promise<unknown> => import(`data:text/javascript,${encodeURIComponent(tableModules().get(path)!)}`);
const { SCHEMAS } = (await served('schemas.js')) as { readonly SCHEMAS: Record<string, Field[]> };
const tables = (await served('tables.js')) as Tables;
const sorted = (values: Iterable<string>) => [...values].sort();

test('the console is sent the tables and schemas, in place of the empty ones of its folder', async () => {
  const sent = [...readConsole().files.values()].map(({ bytes }) => bytes.toString());
  for (const [path, text] of tableModules()) {
    assert.ok(
      sent.some((each) => each.includes(text.split('\n')[0]!.replace('export ', ''))),
      path,
    );
    assert.deepEqual(sorted(Object.keys((await load(path)) as object)), sorted(Object.keys((await served(path)) as object)), path);
  }
});

test('the console offers every setting of lists and feeds, with what it may be', () => {
  for (const [name, settings] of [
    ['createList', LIST_SETTINGS],
    ['createFeed', FEED_SETTINGS],
  ] as const) {
    for (const setting of Object.values(settings)) {
      const { label, maxlength, options } = SCHEMAS[name]!.find(({ field }) => field === setting.field)!;
      assert.match(label, /^[A-Z]/);
      assert.equal(maxlength, 'longest' in setting ? setting.longest : undefined, setting.field);
      assert.deepEqual(
        options && sorted(options.map((each) => (typeof each === 'string' ? each : each.value))),
        'words' in setting ? sorted(setting.words) : 'numbers' in setting ? sorted(setting.numbers.map(String)) : undefined,
      );
    }
  }
});

test('D24.1 the console offers every permission and every role, with what it may', () => {
  assert.deepEqual(sorted(tables.PERMISSIONS.map(({ value }) => value)), sorted(PERMISSIONS));
  assert.deepEqual(
    tables.ROLES.map(({ value, permissions }) => [value, sorted(permissions)]),
    Object.entries(ROLES).map(([role, permissions]) => [role, sorted(permissions)]),
  );
  assert.ok(['rule', 'list', 'key', 'dead letter', 'person'].every((event) => tables.EVENTS.includes(event)));
});

test('D24.7 the console has a sentence for everything that may go wrong with a sign-in', async () => {
  const { REASONS: known } = (await load('sign-in-with.js')) as { readonly REASONS: Record<string, unknown> };
  assert.deepEqual(sorted(Object.keys(known)), sorted(REASONS));
});

test('the console has a tab for every kind of rule', async () => {
  const { RULE_TABS: tabs } = (await load('pages/rules/tabs.js')) as { readonly RULE_TABS: { readonly kind: string }[] };
  assert.deepEqual(sorted(tabs.map(({ kind }) => kind)), sorted(KINDS));
});
