import { setTimeout as sleep } from 'node:timers/promises';
import { AUTH_KINDS, SOURCE_GUARDS } from '../../account/source.ts';
import { hasCode, WeirError } from '../../errors.ts';
import type { Deletion } from '../../manage/deletion.ts';
import type { catalogueJson } from '../../manage/operations/sources/catalogue.ts';
import type { runJson } from '../../manage/sources/refreshes.ts';
import type { SourceJson } from '../../manage/sources/source-json.ts';
import { CATALOGUE, findCatalogue } from '../../source/catalogue.ts';
import type { TryReport } from '../../source/try-source.ts';
import { plural } from '../../text/count.ts';
import { durationText } from '../../text/duration.ts';
import { deletionQuestion } from '../account/settings.ts';
import type { Client, Fields } from '../client/client.ts';
import { fieldTable, printable } from '../context.ts';
import { type AnyRow, type Call, row } from '../rows/row.ts';
import { addRecommended, type Recommended, recommendedText } from './recommended.ts';
import { trialText } from './trial-text.ts';

type Run = ReturnType<typeof runJson>;
type Catalogued = ReturnType<typeof catalogueJson>;

const OPTIONS = {
  paths: { as: 'path', help: 'where in JSON the entries stand: prefixes[].ip_prefix; an empty one is none' },
  signers: { as: 'signer', help: 'a key of another weir that must have signed its feed (weir signing-key ls); an empty one is none' },
  copies: { help: 'a list that it copies in part; an empty one is none' },
  auth: { help: `how its secret is sent: ${AUTH_KINDS.join(', ')}; none removes it`, unset: 'none' },
  secret: {
    as: 'secret-file',
    help: 'file with the secret (basic: user:password), - for standard input; it is stored encrypted',
    isFile: true,
  },
  ...Object.fromEntries(Object.values(SOURCE_GUARDS).map(({ field, help }) => [field, { help }])),
} as const;

const named = ({ name, id }: Pick<SourceJson, 'name' | 'id'>) => `source ${printable(name)} ${id}`;

const originOf = ({ name: word, url, ...given }: Fields, name: unknown) =>
  url === undefined ? { ...given, catalogue: word, name } : { ...given, name: name ?? word, url };

export const SOURCE_ROWS: readonly AnyRow[] = [
  row<SourceJson | Recommended>({
    words: 'source add [name] [url]',
    operation: 'createSource',
    summary: 'make a source and the list that it manages; without an address one of the catalogue',
    options: OPTIONS,
    omit: ['catalogue'],
    flags: {
      '--name <name>': 'another name, for one of the catalogue',
      '--recommended': 'try the recommended never-block lists of the catalogue, and add them after a question',
      '--yes': 'with --recommended: do it without asking',
    },
    given({ given, options }) {
      if ((given.name === undefined) !== (options.recommended === true))
        throw new WeirError('USAGE', 'give a name, or --recommended alone');
      return originOf(given, options.name);
    },
    run: (call) => (call.options.recommended ? addRecommended(call) : call.client.call<SourceJson>('createSource', call.given)),
    show(added) {
      if ('recommended' in added) return recommendedText(added.recommended);
      const { name, id, url, every, catalogue } = added;
      return [`source ${printable(name)} ${id}: ${url}, every ${durationText(every)}`, ...termsOf(catalogue)].join('\n');
    },
  }),
  row<SourceJson[]>({
    words: 'source ls',
    operation: 'listSources',
    summary: 'list the sources of a workspace and their state',
    columns: {
      NAME: 'name',
      STATE: 'state',
      ENTRIES: 'entries',
      FOR: 'purpose',
      EVERY: (each) => durationText(each.every),
      CONFIRMED: 'confirmed_at',
      NEXT: 'next_at',
      'WAITS FOR': 'waits_for',
      URL: 'url',
    },
  }),
  row<Shown>({
    words: 'source show <source>',
    operation: 'getSource',
    summary: 'show a source: its settings, its state, its last refreshes',
    run: async ({ client, given }) => ({
      ...(await client.call<SourceJson>('getSource', given)),
      runs: await client.items<Run>('listSourceRuns', given),
    }),
    show: sourceText,
  }),
  row<SourceJson>({
    words: 'source set <source>',
    operation: 'changeSource',
    summary: 'change the settings of a source; those that are not named stay',
    options: { ...OPTIONS, url: { help: 'another address; another origin needs the secret again' } },
    show: (source) => `${named(source)} is changed`,
  }),
  ...(
    [
      ['pause', 'stop refreshing a source; its list stays until its content is too old'],
      ['resume', 'refresh a source again, at once, even if it was stopped'],
    ] as const
  ).map(([word, summary]) =>
    row<SourceJson>({
      words: `source ${word} <source>`,
      operation: `${word}Source`,
      summary,
      show: (source) => `${named(source)} is ${word}d`,
    }),
  ),
  row<Deletion & { readonly list_kept: boolean }>({
    words: 'source delete <source>',
    operation: 'deleteSource',
    summary: 'delete a source with its list and rules; lists what goes with it, and asks',
    options: {
      keep_list: { help: 'its list stays with its rules, as an ordinary one' },
      for_good: { help: 'it cannot be restored, and its rules no longer count' },
    },
    confirm: (preview, call) => deletionQuestion(preview, 'source', call),
    show: ({ id, name, list_kept: isKept, restorable_until: until }) => {
      const restore = `weir list restore ${JSON.stringify(name)} brings it back, paused, until ${until}`;
      return `source ${printable(name)} ${id} is deleted${isKept ? '; its list stays, with its rules' : until === null ? ' for good' : `; ${restore}`}`;
    },
  }),
  ...(
    [
      ['refresh', 'fetch a source now, or as soon as its host may be asked'],
      ['accept', 'accept the content that is on hold'],
      ['discard', 'discard the content that is on hold, and do not ask about it again'],
    ] as const
  ).map(([word, summary]) =>
    row<SourceJson, Refreshed>({
      words: `source ${word} <source>`,
      operation: `${word}Source`,
      summary,
      omit: ['replacement'],
      flags: { '--wait': 'wait until it is done; exit code 1 when it has failed' },
      json: (asked, call) => (call.options.wait ? refreshed(asked, call) : { ...asked, run: null }),
      show: ({ run, ...source }) =>
        run === null
          ? `${word} of ${printable(source.name)} is requested; weir source show reports the result`
          : `${printable(source.name)}: ${run.outcome}, ${plural(source.entries, 'entry', 'entries')}, ${run.added} added, ${run.removed} removed${run.text === '' ? '' : `: ${printable(run.text)}`}`,
    }),
  ),
  row<Catalogued[]>({
    words: 'source catalogue [name]',
    operation: 'listCatalogue',
    summary: 'list the sources that can be added by name, or show one: address, terms, what to know before',
    json(rows, { args: { name } }) {
      const found = rows.filter((each) => name === undefined || each.name === name);
      if (found.length === 0) throw new WeirError('USAGE', `there is no ${name} in the catalogue: weir source catalogue lists it`);
      return found;
    },
    show: catalogueText,
  }),
  row<TryReport>({
    words: 'source try <source>',
    operation: 'trySource',
    summary: 'show what an address, a row of the catalogue or a source contains and would do; nothing is stored',
    options: OPTIONS,
    omit: ['catalogue', 'url'],
    given: async ({ client, given }) => ({ source: undefined, ...(await wordOf(client, String(given.source))) }),
    json(report, { context }) {
      if (report.fault !== null) context.exitCode = 1;
      return report;
    },
    show: trialText,
  }),
];

/** An address, a source of the workspace, or a row of the catalogue. */
async function wordOf(client: Client, word: string): Promise<Fields> {
  if (/^https?:/i.test(word)) return { url: word };
  try {
    await client.call('getSource', { source: word });
    return { source: word };
  } catch (error) {
    if (!hasCode(error, 'NOT_FOUND')) throw error;
  }
  if (findCatalogue(word) !== undefined) return { catalogue: word };
  throw new WeirError('USAGE', `${word} is neither an address, nor a source of the workspace, nor in the catalogue`);
}

/** Polling interval, and limit in addition to the fetch, ms. */
const LOOK = 200;
const PATIENCE = 60_000;

/** `run`: the last refresh, with `--wait`. */
type Refreshed = SourceJson & { readonly run: Run | null };

/** Rejects with REFUSED after the limit. */
async function refreshed(asked: SourceJson, { client, context }: Call): Promise<Refreshed> {
  const given = { source: asked.id };
  const end = Date.now() + context.config.sourceSeconds * 1000 + PATIENCE;
  for (let source = asked; Date.now() < end; await sleep(LOOK)) {
    source = await client.call<SourceJson>('getSource', given);
    if (source.asked === null) {
      const [run] = await client.items<Run>('listSourceRuns', given);
      if (source.fault !== null || run?.outcome === 'held') context.exitCode = 1;
      return { ...source, run: run ?? null };
    }
    if (source.waits_until !== null && Date.parse(source.waits_until) > end)
      throw new WeirError('REFUSED', `it is requested, and waits for ${source.waits_for} until ${source.waits_until}`);
  }
  const why = 'its host may not be asked yet, or no server with the role sources runs';
  throw new WeirError('REFUSED', `it is requested and not done yet: ${why}`);
}

function termsOf(catalogue: string | null): string[] {
  const found = catalogue === null ? undefined : findCatalogue(catalogue);
  return found === undefined ? [] : [`terms: ${found.terms}`, ...(found.note === undefined ? [] : [`to know: ${found.note}`])];
}

type Shown = SourceJson & { readonly runs: readonly Run[] };

function sourceText({ runs, held, ...source }: Shown): string {
  const { stale_after: staleAfter } = source as Readonly<Record<string, unknown>>;
  const lines = Object.entries({ ...source, every: durationText(source.every), stale_after: durationText(Number(staleAfter)) })
    .filter(([, value]) => value !== null && (!Array.isArray(value) || value.length > 0))
    .map(
      ([name, value]) => `${name.replaceAll('_', ' ').padEnd(16)} ${printable(Array.isArray(value) ? value.join(', ') : String(value))}`,
    );
  const hold = held === null ? [] : [`${'held'.padEnd(16)} since ${held.since}: ${printable(held.reason)}`];
  const columns = {
    REFRESH: 'at',
    OUTCOME: 'outcome',
    ENTRIES: 'entries',
    ADDED: 'added',
    REMOVED: 'removed',
    REFUSED: 'refused',
    ID: 'replacement',
    '': 'text',
  } as const;
  return [...lines, ...hold, ...(runs.length === 0 ? [] : ['', fieldTable(runs, columns)])].join('\n');
}

function catalogueText(rows: readonly Catalogued[]): string {
  const [only, ...others] = rows;
  if (only === undefined || others.length > 0 || CATALOGUE.length === 1)
    return fieldTable(
      rows.map((each) => ({ ...each, every: durationText(each.every) })),
      { NAME: 'name', FOR: 'purpose', EVERY: 'every', WHAT: 'title' },
    );
  const condition = only.where === null ? [] : [`where ${only.where}`];
  const lines: readonly (readonly [string, string | null])[] = [
    [only.name, only.title],
    ['address', only.url],
    ['for', only.purpose],
    ['entries at', only.paths.length === 0 ? null : [...only.paths, ...condition].join(', ')],
    ['every', `${durationText(only.every)}, at most every ${durationText(only.least)}`],
    ['size', only.entries === null ? null : `about ${only.entries} entries (${only.entries_at})`],
    ['terms', only.terms],
    ['networks', `no wider than /${only.min_prefix_v4} (IPv4) and /${only.min_prefix_v6} (IPv6)`],
    ['empty', only.may_be_empty ? 'it may be' : null],
    ['note', only.note],
  ];
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.flatMap(([name, text]) => (text === null ? [] : [`${name.padEnd(width)}  ${text}`])).join('\n');
}
