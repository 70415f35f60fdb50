/** SPEC D23.41. */
import type { SecretKeys } from '../../../account/secrets/encrypted-secret.ts';
import { answerOf, exampleOf, type Fields, listOf, nullable, objectOf, Type } from '../../../json/schema.ts';
import type { StoreReads } from '../../../ports/store.ts';
import { everyItem } from '../../../ports/stored/paginate.ts';
import type { SourceWithSecret } from '../../../ports/stored/source-store.ts';
import { ACCESS_ACTIONS } from '../../../rule.ts';
import type { ContentOf } from '../../../source/refresh/content.ts';
import { type TryJob, WHOLENESS } from '../../../source/try-source.ts';
import { fieldFault, fieldFaults, type Operation, operation } from '../../operation.ts';
import { SOURCE_BODY, wantedOf } from '../../sources/source-json.ts';
import { credentialHeaders, givenHeaders } from '../../sources/source-secret.ts';
import { changedSettings, type OpenSettings, type Reach, settingsFaults } from '../../sources/source-settings.ts';
import { findSource, newSource, settingsOf, type WantedSource } from '../../sources/sources.ts';

const KINDS = Type.Enum(['workspace', 'list', 'composed']);
const orNull = (example: string | null, description?: string) =>
  [example, nullable(Type.String(description === undefined ? {} : { description }))] as const;
const sample = (place: string, message: string): Fields => ({ count: 1, first: listOf({ place, message }) });

const CONTENT: Fields = {
  bytes: [81_234, 'Unpacked.'],
  last_modified: orNull('2026-11-23T05:12:00.000Z', 'As given by its server; null: not given.'),
  said_entries: [1692, nullable(Type.Integer({ description: 'The number of entries it declares, and contains; null: not declared.' }))],
  whole: [
    'said',
    Type.Enum([...WHOLENESS], {
      description: 'Whether the content is complete: declared by the content, by a complete last line, or unknown.',
    }),
  ],
  entries: [1691, 'Distinct valid entries.'],
  v4: 1691,
  v6: 0,
  countries: 0,
  asns: 0,
  addresses_v4: 14_212_608,
  addresses_v6: [0, Type.Number({ description: 'Rounded to double precision.' })],
  widest_v4: orNull('198.18.0.0/15'),
  widest_v6: orNull(null),
  doubled: [0, 'Repeated entries.'],
  expired: 0,
  passed: [{}, Type.Record(Type.String(), Type.Integer(), { description: 'Skipped rows, by reason.' })],
  warnings: [[], Type.Array(Type.String(), { description: 'Descriptive data that was shortened or dropped.' })],
  faults: sample('line 7', '"192.0.2.999": an octet must be 0 to 255'),
  refused: sample('line 9', '10.0.0.0/8 overlaps the protected network 10.0.0.0/8 (private)'),
  protected: [['10.0.0.0/8 (private)'], Type.Array(Type.String(), { description: 'Protected networks that it would block.' })],
};

const TRIAL: Fields = {
  present: [0, 'Current rules of its list.'],
  added: 1691,
  removed: 0,
  overlaps: listOf(
    {
      kind: ['list', KINDS],
      name: 'scanners',
      entries: [12, 'Entries of the source with an address there.'],
      addresses_v4: 3072,
      addresses_v6: [0, Type.Number()],
    },
    { description: 'Lists and feeds that block some of it, largest overlap first; at most 50.' },
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
      left_out: [null, nullable(Type.String({ description: 'Content it would leave out to stay within its limit; null: nothing.' }))],
    },
    { description: 'The effect on each feed that changes.' },
  ),
  left_out: [0, 'Lists and feeds skipped for lack of time.'],
  holds: [[], Type.Array(Type.String(), { description: 'The reasons for which such a refresh would be put on hold, a sentence each.' })],
};

const Trial = answerOf('SourceTrial', {
  name: 'spamhaus-drop',
  url: 'https://www.spamhaus.org/drop/drop_v4.json',
  purpose: ['block', Type.Enum(['block', 'allow'])],
  list_id: orNull(null, 'The list that it would replace; null: a new one.'),
  fault: orNull(null, 'Why there is no content: it cannot be fetched or read.'),
  content: [exampleOf(CONTENT), nullable(objectOf(CONTENT))],
  trial: [exampleOf(TRIAL), nullable(objectOf(TRIAL))],
});

const ref = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 200, format: 'text', description }));

export const SOURCE_TRIAL: readonly Operation[] = [
  operation('trySource', 'POST /sources/try', 'manage', {
    summary: 'Fetch a source and preview its effect, without storing anything',
    description:
      'Give a URL (`url`), a catalogue entry, or the name of a source, with the settings of a new source. It is fetched once, within 30 seconds. If its host does not allow a fetch yet: 429 with `Retry-After`. One trial per workspace at a time.',
    body: Type.Object({ source: ref('An existing source.'), catalogue: ref('A catalogue entry.'), ...SOURCE_BODY }),
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

/** Either `source`, a URL or a catalogue entry. */
interface WantedTrial extends WantedSource {
  readonly source?: string | undefined;
  readonly name?: string | undefined;
}

interface TrialContext {
  readonly store: Pick<StoreReads, 'findNamed' | 'source' | 'allSources'>;
  readonly workspaceId: string;
  readonly secretKeys: SecretKeys;
  readonly sourceReach: Reach;
}

/** Rejects with USAGE and NOT_FOUND. */
async function trialOf(context: TrialContext, { source: ref, ...wanted }: WantedTrial): Promise<TryJob> {
  const { store, workspaceId, secretKeys, sourceReach } = context;
  const { auth, authHeader, secret, name: given, ...settings } = wanted;
  const known = ref === undefined ? undefined : await findSource(store, workspaceId, ref);
  const { name, ...found } =
    known === undefined
      ? newSource({ ...settings, name: given ?? settings.catalogue ?? nameOf(settings.url) })
      : { name: known.source.name, ...changedSettings(settingsOf(known.source), settings) };
  const [fault, ...others] = settingsFaults(found, sourceReach);
  if (fault !== undefined) throw fieldFaults([fault, ...others]);
  const own = givenHeaders({ auth, authHeader, secret });
  return {
    workspaceId,
    content: contentOf(name, found),
    listId: known?.source.listId ?? null,
    credentials: own ?? (known === undefined ? {} : await storedHeaders(store, secretKeys, known.source, found.url)),
  };
}

const contentOf = (name: string, { url, purpose, reading, guards }: OpenSettings): ContentOf => ({ name, url, purpose, reading, guards });

const nameOf = (url: string | undefined): string => (url !== undefined && URL.canParse(url) ? new URL(url).hostname : 'new');

/** Never for another origin. */
async function storedHeaders(
  store: Pick<StoreReads, 'allSources'>,
  keys: SecretKeys,
  { id, credential }: SourceWithSecret['source'],
  url: string,
): Promise<Readonly<Record<string, string>>> {
  if (credential === null) return {};
  for await (const sealed of everyItem((page) => store.allSources(page))) {
    const headers = sealed.source.id === id ? credentialHeaders(keys, { ...sealed, source: { ...sealed.source, url } }) : undefined;
    if (headers !== undefined) return headers;
  }
  throw fieldFault('secret', 'cannot be decrypted, or is for another origin: give it again');
}
