/** SPEC D23.1. */
import { parseNetwork } from '@weir/network/parse.ts';
import { readSigner } from '../../account/secrets/signature.ts';
import {
  collectionOf,
  DEFAULT_GUARDS,
  EVERY,
  GUARD_NAMES,
  PLAIN_READING,
  SOURCE_GUARDS,
  type SourceGuards,
  type SourceReading,
  type SourceSettings,
} from '../../account/source.ts';
import { hasCode } from '../../errors.ts';
import type { FieldFault } from '../../signal/validate.ts';
import { leastInterval } from '../../source/catalogue.ts';
import { FORMS, MOST_SKIPPED } from '../../source/readers/form.ts';
import { readCondition, readPath } from '../../source/readers/paths.ts';
import { signedFeedOf } from '../../source/signed-feed.ts';
import { durationText } from '../../text/duration.ts';

/** `suricata` is a log, not a list. */
export const SOURCE_FORMATS = [...FORMS.filter((form) => form !== 'suricata'), 'taxii', 'misp-feed'] as const;

/** A reason, as the rest of a sentence; undefined: allowed. */
export type Reach = (address: string) => string | undefined;

/** Without the secret. */
export type OpenSettings = Omit<SourceSettings, 'credential'>;

/** Absent: unchanged or default. */
export type GivenSettings = Partial<Omit<OpenSettings, 'reading' | 'guards'>> & {
  readonly reading?: Partial<SourceReading>;
  readonly guards?: Partial<SourceGuards>;
};

export function newSettings(given: GivenSettings & { readonly url: string }): OpenSettings {
  const { every = EVERY.fallback, reading, guards, ...others } = given;
  // Two failed refreshes must not empty the list.
  const staleAfter = Math.max(DEFAULT_GUARDS.staleAfter, 2 * every);
  return {
    purpose: 'block',
    copies: [],
    catalogue: null,
    ...others,
    every,
    reading: { ...PLAIN_READING, ...reading },
    guards: { ...DEFAULT_GUARDS, staleAfter, ...guards },
  };
}

export const changedSettings = (before: OpenSettings, { reading, guards, ...others }: GivenSettings): OpenSettings => ({
  ...before,
  ...others,
  reading: { ...before.reading, ...reading },
  guards: { ...before.guards, ...guards },
});

export function settingsFaults(settings: OpenSettings, reach: Reach): FieldFault[] {
  const { url, every, reading } = settings;
  const faults: [field: string, fault: string | undefined][] = [
    ['url', urlFault(url, reach)],
    ['every', everyFault(url, every)],
    ...reading.paths.map((path) => ['paths', usageFault(() => readPath(path))] as [string, string | undefined]),
    ['where', reading.condition === null ? undefined : usageFault(() => readCondition(reading.condition!))],
    ...readingFaults(reading),
    ...signersFaults(settings),
    ...guardFaults(settings),
  ];
  return faults.flatMap(([field, message]) => (message === undefined ? [] : [{ field, message }]));
}

const LONGEST_URL = 2048;

/** undefined: valid. `setting`: the setting that allows networks. */
export function urlFault(text: string, reach: Reach, setting = 'SOURCE_NETWORKS'): string | undefined {
  if (text.length > LONGEST_URL) return `must have at most ${LONGEST_URL} characters`;
  if (!URL.canParse(text)) return 'must be a URL such as https://lists.example/block.txt';
  const { protocol, username, password, hostname } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') return `must begin with https:// or http://, not ${protocol}`;
  if (username + password !== '') return 'must not contain a user or password: give them as its secret, which is stored encrypted';
  const address = hostname.replace(/^\[|\]$/g, '');
  const why =
    typeof parseNetwork(address) !== 'string' ? reach(address) : /(^|\.)localhost\.?$/.test(address) ? 'is this machine' : undefined;
  return why === undefined
    ? undefined
    : `leads to ${address}, which ${why}; the operator of the service can allow networks with ${setting}`;
}

function everyFault(url: string, every: number): string | undefined {
  const ofHost = (URL.canParse(url) ? leastInterval(new URL(url)) : undefined) ?? 0;
  if (every < ofHost) return `must be at least ${durationText(ofHost)}, the minimum interval of ${new URL(url).hostname}`;
  if (every < EVERY.least || every > EVERY.most) return `must be from ${durationText(EVERY.least)} to ${durationText(EVERY.most)}`;
  return undefined;
}

const HAS_COLUMNS: readonly SourceReading['format'][] = [null, 'csv', 'json', 'ndjson'];

function readingFaults({ format, paths, condition, collection, column, skip }: SourceReading): [string, string | undefined][] {
  const isJson = format === null || format === 'json' || format === 'ndjson';
  return [
    ['paths', paths.length > 0 && !isJson ? `is for JSON, but the format is ${format}` : undefined],
    ['where', condition !== null && paths.length === 0 ? 'requires paths' : undefined],
    ['column', column !== null && (paths.length > 0 || !HAS_COLUMNS.includes(format)) ? 'is for CSV and JSON without paths' : undefined],
    [
      'skip',
      skip > MOST_SKIPPED || (skip > 0 && collectionOf({ ...PLAIN_READING, format }) !== undefined)
        ? `must be at most ${MOST_SKIPPED}, and is for files`
        : undefined,
    ],
    ['collection', collection !== null && format !== 'taxii' ? 'is for the format taxii' : undefined],
  ];
}

function signersFaults({ url, reading: { signers, format } }: OpenSettings): [string, string | undefined][] {
  if (signers.length === 0) return [];
  const unread = signers.find((signer) => readSigner(signer) !== signer);
  const feed = URL.canParse(url) ? signedFeedOf(url) : undefined;
  const isFile = collectionOf({ ...PLAIN_READING, format }) === undefined;
  return [
    ['signers', unread === undefined ? undefined : `must be a key such as ssh-ed25519 AAAA…, not "${unread.slice(0, 100)}"`],
    ['signers', isFile ? undefined : 'is for feeds of weir'],
    ['url', typeof feed === 'string' ? feed : undefined],
  ];
}

function guardFaults({ every, purpose, guards }: OpenSettings): [string, string | undefined][] {
  const isTooSoon = purpose === 'block' && guards.staleAfter < 2 * every;
  const least = durationText(2 * every);
  return [
    ...GUARD_NAMES.map((name): [string, string | undefined] => {
      const [guard, value] = [SOURCE_GUARDS[name], guards[name]];
      if (!('least' in guard) || typeof value === 'boolean') return [guard.field, undefined];
      const fault = value < guard.least || value > guard.most ? `must be from ${guard.least} to ${guard.most}` : undefined;
      return [guard.field, fault];
    }),
    ['stale_after', isTooSoon ? `must be at least ${least}, twice the fetch interval, to tolerate one failed refresh` : undefined],
  ];
}

function usageFault(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (hasCode(error, 'USAGE')) return error.message;
    throw error;
  }
}
