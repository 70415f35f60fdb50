/** Numbers that the code has and texts repeat: docs, the contract, the console and the API documents say what the constants are. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LEAST_PATIENCE } from '../../src/account/device.ts';
import { ENDS_SOON, IN_USE } from '../../src/account/key.ts';
import { LIST_SETTINGS } from '../../src/account/list.ts';
import { LONGEST_SNOOZE } from '../../src/account/snooze.ts';
import { readConfig } from '../../src/config.ts';
import { LONGEST_OUTAGE } from '../../src/feed/serve/served-document.ts';
import { DEFAULT_ENTRY_LIMIT } from '../../src/feed/variant.ts';
import { RESULT_RETENTION } from '../../src/manage/async-operations.ts';
import { RECENTLY } from '../../src/manage/devices/recent-use.ts';
import { MOST_IMPORTED } from '../../src/manage/imports/import-content.ts';
import { ANSWER_RETENTION, AUDIT_RETENTION, RESTORE_PERIOD, RULE_RETENTION } from '../../src/ports/stored/account-store.ts';
import { DEFAULT_EXPIRY, LEAST_EXPIRY } from '../../src/signal/expiry.ts';
import { LIMITS } from '../../src/signal/limits.ts';
import { docsApp } from '../support/docs-app.ts';
import { inject } from '../support/inject.ts';

const { config } = readConfig({}) as Extract<ReturnType<typeof readConfig>, { config: unknown }>;
const { most: MOST_ENTRIES } = LIST_SETTINGS.maxEntries as { readonly most: number };
const seconds = (ms: number) => ms / 1000;

/** Constants (seconds, bytes or a count), each with the sentences that say it: `{}` is the value. Every match has to say that. */
const SAID: Readonly<Record<string, readonly [value: number, ...sentences: string[]]>> = {
  'expiry of a block that names none': [
    DEFAULT_EXPIRY,
    ...['default for blocks: {}', 'absent: {} for a block'],
    ...['absent or 0 means {}', 'A block without it lasts {}', '0 or omitted means {},', 'block of an access rule {};', '{} (default)'],
  ],
  'least expiry of an access rule': [
    LEAST_EXPIRY,
    ...['| expiry | {} to', '1 to 59 mean {}', 'access rules live at least {}.', 'rules at least {} after'],
  ],
  'longest expiry': [
    LIMITS.expirySeconds,
    '60 seconds to {};',
    '"expiration": {}`',
    'integers from 0 to {} (',
    '"expires_in"`): {}, the largest',
  ],
  'entries of a batch': [
    LIMITS.batchEntries,
    ...[
      'envelopes): batches of up to {} entries,',
      '| a batch | 1 to {} entries',
      'not an array of 1 to {} objects',
      'A batch of more than {} entries',
    ],
    ...[
      'JSON arrays of 1 to {} entries',
      'in batches of {} entries, each against',
      'sends a large file in batches of {} entries',
      'are imported, in batches of {}.',
    ],
  ],
  'bytes of a batch': [
    LIMITS.batchBytes,
    'a batch | 1 to 1000 entries, {} |',
    'objects, or over {};',
    'a batch of {} takes no more memory',
  ],
  'bytes of an entry': [LIMITS.entryBytes, '| an entry | {};', 'the entry over {} of compact JSON'],
  'characters of an expression': [
    LIMITS.expression,
    'an expression {} characters',
    '`expression` over {} or',
    'No expression of at most {} characters',
  ],
  'regular expressions of an expression': [LIMITS.regexes, 'more than {} regular expressions'],
  'characters of a name': [LIMITS.name, '`name` over {} characters'],
  'characters of a text': [LIMITS.text, '`short_description` over {};'],
  'bytes of labels': [LIMITS.labelsBytes, '`labels` over {} and'],
  'bytes of config': [LIMITS.configBytes, '`config` over {} as JSON'],
  'entries of a feed': [
    DEFAULT_ENTRY_LIMIT,
    ...['| a feed | {} networks', 'The cap is {} networks a feed', 'its cap is always {}.'],
    ...['document of more than {} rules', 'More than {} rules of a kind are'],
  ],
  'most entries of a list': [MOST_ENTRIES, 'a list up to {} (', '`max_entries` is 1 to {}.', '`--max-entries`, 1 to {})'],
  'what was deleted comes back': [
    seconds(RESTORE_PERIOD),
    ...['For {} a deleted list or feed', 'For {} `weir list restore`', 'brings it back for {}', 'keeps its rules for {}, and they count'],
    ...[
      'can be restored for {}',

      '`deleted_members` | deleted lists and feeds | {},',
    ],
    ...[
      'restorable lists and feeds of the last {}',
      'that was deleted in the last {}',
      'You can restore it for {}',
      'Restorable for {} with',
      'restore its list for {} under',
      'restore the list for {}.',
    ],
  ],
  'expired rules, batches and what they replaced': [
    seconds(RULE_RETENTION),
    ...[
      'rules {} after their expiry',
      'For {} the store knows each batch',
      'Replaced rules are stored for {},',
      'For {} weir knows what each batch did',
    ],
    ...[
      'replaced and deleted rules for {}, or',
      'weir deletes them, {} after',
      'batch](batches.md) of the last {}.',
      'can be undone for {}',
      'the batches of the last {},',
      'at two points in time, up to {} back',
    ],
    ...['Batches are stored for {};', 'Removals from lists are known for {}.'],
  ],
  'audit log, dead letters, devices, people': [
    seconds(AUDIT_RETENTION),
    ...[
      'ho changed what in the last {}',
      'dead letters and audit rows {}',
      'Rows are stored for {}.',
      'newest first; stored for {}',
      'rows for {} after the last poll',
    ],
    ...['| audit log | {};', '| clients that poll | {};', 'could not land | {};', 'List people of the last {},', 'Active in the last {}"'],
  ],
  'who has used a key lately': [
    seconds(RECENTLY),
    ...[
      'bound keys, and clients of the last {}',
      'pulled with the key in the last {} ',

      'etches in the last {}',
    ],
    ...['that used it in the last {}.', 'fetched with it in the last {}.'],
  ],
  'late answers': [
    seconds(RESULT_RETENTION),
    'then its answer, for {},',
    'is available, for {} and',
    'errors included, for {} and',
    'it is older than {}, or the',
  ],
  'keys that end soon': [
    seconds(ENDS_SOON),
    'end within {} and were used',
    'within the last 30 days expires within {}',
    'within 30 days end within {}',
  ],
  'keys in use': [seconds(IN_USE), 'used within the last {} expires within'],
  'answers to what is done once': [seconds(ANSWER_RETENTION), 'characters: for {} the same request', 'Your choice. For {}, the same'],
  'longest snooze': [LONGEST_SNOOZE, 'for a minute to {},', 'Seconds, at most {}'],
  'least patience with a device': [seconds(LEAST_PATIENCE), 'After ten of these, and {}, without', '(at least {}) is logged'],
  'a feed without a store': [
    seconds(LONGEST_OUTAGE),
    'last good feed for up to {}.',
    'up to {}, with `X-Feed-Stale-Since`',
    '`X-Feed-Stale-Since`, for up to {} ',
  ],
  'entries of an import': [MOST_IMPORTED, 'file with at most {} entries;'],
  'requests a minute': [config.rateLimitSignals, '| requests | {} a minute and key'],
  'entries a minute': [config.rateLimitEntries, '; {} entries a minute and key'],
  'rebuild of a feed': [config.feedRebuildSeconds, 'from the store at most every {}, so', 'at most once every {}.'],
  'waiting for a long answer': [
    config.manageAnswerSeconds,
    'take longer than {} (`MANAGE_ANSWER_SECONDS`)',
    '`MANAGE_ANSWER_SECONDS` ({})',
  ],
};

const NUMBERS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const DAY = 86_400;
const UNITS = { second: 1, minute: 60, hour: 3600, day: DAY, week: 7 * DAY, year: 365.25 * DAY, s: 1, KiB: 1024, MiB: 1024 ** 2 };
const VALUE = `((?:[\\d,]*\\d|an?|${NUMBERS.join('|')})(?: (?:(?:second|minute|hour|day|week|year)s?|s\\b|KiB|MiB))?)`;

/** The numbers that a text may mean: `seven days`, `131,072`, `64 KiB`; days, where it says no unit. */
function meant(text: string): number[] {
  const [count, unit] = text.split(' ');
  const number = /^an?$/.test(count!) ? 1 : NUMBERS.includes(count!) ? NUMBERS.indexOf(count!) : Number(count!.replaceAll(',', ''));
  return unit === undefined ? [number, number * DAY] : [number * UNITS[unit.replace(/(?<=.)s$/, '') as keyof typeof UNITS]];
}

/** All texts, each with where it stands. A line break of a paragraph is a blank. */
async function texts(): Promise<(readonly [place: string, text: string])[]> {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const files = globSync(['README.md', 'SPEC.md', 'spec/*.md', 'docs/**/*.md', 'packages/console/**/*.js', 'src/account/list.ts'], {
    cwd: root,
  });
  const app = docsApp();
  const groups = ['signal', 'feeds', 'rules', 'agent', 'bouncer', 'manage'];
  const apis = groups.map(async (group) => [`API of ${group}`, (await inject(app, `/docs/${group}/swagger/json`)).body] as const);
  const read = files.map((file) => [file, readFileSync(join(root, file), 'utf8')] as const);
  return [...read, ...(await Promise.all(apis))].map(([place, text]) => [place, text.replaceAll(/\s*\n\s*/g, ' ')] as const);
}

test('D42.13 what texts say of a constant is what it is', async () => {
  const all = await texts();
  const wrong: string[] = [];
  for (const [name, [value, ...sentences]] of Object.entries(SAID)) {
    for (const sentence of sentences) {
      const [before, behind] = sentence.split('{}').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
      const pattern = new RegExp(before + VALUE + behind, 'g');
      const found = all.flatMap(([place, text]) => [...text.matchAll(pattern)].map(([said, told]) => ({ place, said, told: told! })));
      if (found.length === 0) wrong.push(`${name}: no text says ${sentence}`);
      for (const { place, said, told } of found)
        if (!meant(told).includes(value)) wrong.push(`${name} is ${value}, but ${place} says: ${said}`);
    }
  }
  assert.deepEqual(wrong, []);
});
