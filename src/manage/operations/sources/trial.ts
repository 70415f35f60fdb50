/** A source, tried before anything is kept (SPEC D23.41). */
import { answerOf, exampleOf, type Fields, listOf, nullable, objectOf, Type } from '../../../json/schema.ts';
import { ACCESS_ACTIONS } from '../../../rule.ts';
import { WHOLENESS } from '../../../source/try-source.ts';
import { type Operation, operation } from '../../operation.ts';
import { SOURCE_BODY, wantedOf } from '../../sources/source-json.ts';
import { trialOf, type WantedTrial } from '../../sources/try-source.ts';

const KINDS = Type.Enum(['workspace', 'list', 'composed']);
const orNull = (example: string | null, description?: string) =>
  [example, nullable(Type.String(description === undefined ? {} : { description }))] as const;
const told = (place: string, message: string): Fields => ({ count: 1, first: listOf({ place, message }) });

const CONTENT: Fields = {
  bytes: [81_234, 'Unpacked.'],
  last_modified: orNull('2026-11-23T05:12:00.000Z', 'As its server says; null where it says nothing.'),
  said_entries: [1692, nullable(Type.Integer({ description: 'How many it says that it has, and has; null where it says nothing.' }))],
  whole: ['said', Type.Enum([...WHOLENESS], { description: 'By its own word, by a whole last line, or not known.' })],
  entries: [1691, 'Different ones that could be taken.'],
  v4: 1691,
  v6: 0,
  countries: 0,
  asns: 0,
  addresses_v4: 14_212_608,
  addresses_v6: [0, Type.Number({ description: 'As near as a double tells it.' })],
  widest_v4: orNull('198.18.0.0/15'),
  widest_v6: orNull(null),
  doubled: [0, 'Entries that stand there again.'],
  expired: 0,
  passed: [{}, Type.Record(Type.String(), Type.Integer(), { description: 'Rows that ask for nothing, by the reason.' })],
  warnings: [[], Type.Array(Type.String(), { description: 'What is cut or left out of the descriptions of entries.' })],
  faults: told('line 7', '"192.0.2.999": an octet must be 0 to 255'),
  refused: told('line 9', '10.0.0.0/8 overlaps the protected network 10.0.0.0/8 (private)'),
  protected: [['10.0.0.0/8 (private)'], Type.Array(Type.String(), { description: 'Protected networks that it would block.' })],
};

const TRIAL: Fields = {
  present: [0, 'Rules that its list has now.'],
  added: 1691,
  removed: 0,
  overlaps: listOf(
    { kind: ['list', KINDS], name: 'scanners', entries: [12, 'Of the tried ones.'], addresses_v4: 3072, addresses_v6: [0, Type.Number()] },
    { description: 'Lists and feeds that block some of it, most first; 50 at most.' },
  ),
  never_block: { count: 1, first: listOf({ list: 'partners', value: '198.51.100.0/24' }) },
  feeds: listOf(
    {
      kind: ['workspace', KINDS],
      name: 'default',
      action: ['block', Type.Enum([...ACCESS_ACTIONS])],
      entries_before: 4000,
      entries_after: 5680,
      entry_limit: 131_072,
      fits: true,
      left_out: [null, nullable(Type.String({ description: 'What it would leave out to keep within its cap; null: nothing.' }))],
    },
    { description: 'What each feed that changes would have.' },
  ),
  left_out: [0, 'Lists and feeds that there was no time for.'],
  holds: [[], Type.Array(Type.String(), { description: 'Why such a refresh would be held, a sentence each.' })],
};

const Trial = answerOf('SourceTrial', {
  name: 'spamhaus-drop',
  url: 'https://www.spamhaus.org/drop/drop_v4.json',
  purpose: ['block', Type.Enum(['block', 'allow'])],
  list_id: orNull(null, 'The list that it would replace; null: a new one.'),
  fault: orNull(null, 'Why there is no content: it cannot be fetched, or not be read.'),
  content: [exampleOf(CONTENT), nullable(objectOf(CONTENT))],
  trial: [exampleOf(TRIAL), nullable(objectOf(TRIAL))],
});

const ref = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 200, format: 'text', description }));

export const SOURCE_TRIAL: readonly Operation[] = [
  operation('trySource', 'POST /sources/try', 'manage', {
    summary: 'Try a source before anything is kept: what is there, and what it would do',
    description:
      'By an address (`url`), a row of the catalogue, or the name of a source, with settings as for a new one. It is fetched once, within 30 seconds, as its host lets itself be asked: else 429 with `Retry-After`. One of a workspace is tried at a time.',
    body: Type.Object({ source: ref('One that there is.'), catalogue: ref('One of the catalogue.'), ...SOURCE_BODY }),
    answer: Trial,
    isLong: true,
    refusals: {
      404: 'there is no source "spamhaus-drop"',
      409: 'a source of the workspace is being tried already',
      413: 'trying it takes longer than 60 s',
    },
    examples: [
      { catalogue: 'spamhaus-drop' },
      { url: 'https://partner.example/ranges.json', purpose: 'allow', paths: ['prefixes[].cidr'] },
    ],
    async run(context, { body: { source, catalogue, ...body } }) {
      const wanted = { ...wantedOf(body), ...(source !== undefined && { source }), ...(catalogue !== undefined && { catalogue }) };
      return await context.trySource(await trialOf(context, wanted as WantedTrial));
    },
  }),
];
