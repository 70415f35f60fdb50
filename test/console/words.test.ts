/** The console's words are those of the service: it cannot import the tables, so it repeats them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FEED_SETTINGS } from '../../src/account/feed.ts';
import { PERMISSIONS, WORKSPACE_PERMISSIONS } from '../../src/account/permission.ts';
import { ROLES } from '../../src/account/role.ts';
import { WEBHOOK_STYLES } from '../../src/account/webhook.ts';
import { FORMAT_NAMES } from '../../src/feed/formats/table.ts';
import { FAMILIES } from '../../src/feed/variant.ts';
import { readConsole } from '../../src/http/console/files.ts';
import { REASONS } from '../../src/http/console/sign-in.ts';
import { ACCESS_ACTIONS, KINDS, LEVELS, RULE_KINDS } from '../../src/rule.ts';

interface Choice {
  readonly value: string;
}
interface Words {
  readonly FAMILIES: string[];
  readonly ACTIONS: string[];
  readonly LEVELS: string[];
  readonly LIST_SETTINGS: Words['FEED_SETTINGS'];
  readonly FEED_SETTINGS: { readonly field: string; readonly options?: Choice[]; readonly longest?: number }[];
  readonly PERMISSIONS: (Choice & { readonly whole: boolean })[];
  readonly WEBHOOK_STYLES: Choice[];
  readonly ROLES: (Choice & { readonly permissions: string[] })[];
}
interface Tabs {
  readonly RULE_TABS: { readonly kind: string; readonly actions: string[] }[];
}

/** A module of the console, which has no types here. */
const load = (path: string): Promise<unknown> => import(new URL(`../../packages/console/${path}`, import.meta.url).href);
const words = (await load('words.js')) as Words;
const { FORMATS } = (await load('formats.js')) as { readonly FORMATS: string[] };
const tabs = (await load('pages/rules/tabs.js')) as Tabs;

const sorted = (values: Iterable<string>) => [...values].sort();
const values = (choices: readonly Choice[]) => sorted(choices.map(({ value }) => value));

test('the console offers the formats, families, actions and levels that there are', () => {
  const formats = `const FORMATS = ${JSON.stringify(FORMAT_NAMES)};\n`;
  assert.ok([...readConsole().files.values()].some(({ bytes }) => bytes.includes(formats)));
  assert.deepEqual(sorted(words.FAMILIES), sorted(FAMILIES));
  assert.deepEqual(sorted(words.ACTIONS), sorted(ACCESS_ACTIONS));
  assert.deepEqual(sorted(words.LEVELS), sorted(LEVELS));
  assert.deepEqual(values(words.WEBHOOK_STYLES), sorted(WEBHOOK_STYLES));
});

test('the console offers every setting of lists and feeds, with what it may be', () => {
  assert.deepEqual(words.FEED_SETTINGS.slice(0, words.LIST_SETTINGS.length), words.LIST_SETTINGS);
  const offered = words.FEED_SETTINGS.map(({ field, options, longest }) => [field, options === undefined ? longest : values(options)]);
  const known = Object.values(FEED_SETTINGS).map((row) => {
    // Those of the service are sent in place of the ones that stand here.
    if (row.field === 'format') return [row.field, sorted(['', ...FORMATS])];
    return [row.field, 'words' in row ? sorted(['', ...row.words]) : 'longest' in row ? row.longest : undefined];
  });
  assert.deepEqual(Object.fromEntries(offered), Object.fromEntries(known));
});

test('the console offers every permission, and knows those that a bound key cannot have', () => {
  assert.deepEqual(values(words.PERMISSIONS), sorted(PERMISSIONS));
  assert.deepEqual(values(words.PERMISSIONS.filter(({ whole }) => whole)), sorted(WORKSPACE_PERMISSIONS));
});

test('D24.1 the console offers every role, with what it may', () => {
  assert.deepEqual(
    words.ROLES.map(({ value, permissions }) => [value, sorted(permissions)]),
    Object.entries(ROLES).map(([role, permissions]) => [role, sorted(permissions)]),
  );
});

test('D24.7 the console has a sentence for everything that may go wrong with a sign-in', async () => {
  const { REASONS: told } = (await load('sign-in-with.js')) as { readonly REASONS: Record<string, unknown> };
  assert.deepEqual(sorted(Object.keys(told)), sorted(REASONS));
});

test('the console has a tab for every kind of rule, with its actions', () => {
  const shown = tabs.RULE_TABS.map(({ kind, actions }) => [kind, sorted(actions)]);
  assert.deepEqual(Object.fromEntries(shown), Object.fromEntries(KINDS.map((kind) => [kind, sorted(RULE_KINDS[kind].actions)])));
});
