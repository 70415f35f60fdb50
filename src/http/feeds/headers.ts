import type { DocumentVariant } from '../../feed/document.ts';
import type { FeedFacts } from '../../feed/facts.ts';
import { FORMATS } from '../../feed/formats/table.ts';
import { lastModifiedOf, type Representation } from '../../feed/serve/representation.ts';
import { trimmedHeader } from '../../feed/trim.ts';
import { NO_SNIFFING } from '../answer.ts';
import { formatHttpDate } from './conditional.ts';

/** One object per representation and form. */
export interface AnsweredContent {
  /** List or composed feed; null: the workspace's feed. */
  readonly feedId: string | null;
  readonly variant: DocumentVariant;
  readonly etag: string;
  /** Whole seconds. */
  readonly lastModified: number;
}

/** Headers as name, value, …; no body for 304. */
export interface DocumentAnswer {
  readonly status: 200 | 304;
  readonly headers: readonly string[];
  readonly body: Uint8Array | string | undefined;
  readonly content?: AnsweredContent;
}

export type AnswerForm = keyof Representation['etags'];

/** The headers of a 200 except its length, and the complete 304. */
export interface PreparedAnswers {
  readonly content: AnsweredContent;
  readonly ok: readonly string[];
  readonly notModified: DocumentAnswer;
}

type Pairs = readonly (readonly [name: string, value: string])[];

const PREPARED = new WeakMap<Representation, Partial<Record<AnswerForm, PreparedAnswers>>>();

/** Cached. */
export function preparedAnswers(representation: Representation, form: AnswerForm): PreparedAnswers {
  let prepared = PREPARED.get(representation);
  if (prepared === undefined) {
    prepared = {};
    PREPARED.set(representation, prepared);
  }
  prepared[form] ??= prepareAnswers(representation, form);
  return prepared[form];
}

function prepareAnswers(representation: Representation, form: AnswerForm): PreparedAnswers {
  const { feedId, etags, lastModified, variant } = representation;
  const content = { feedId, variant, etag: etags[form], lastModified };
  const common: Pairs = [
    ['ETag', etags[form]],
    ['Last-Modified', formatHttpDate(lastModifiedOf(representation))],
    ...commonHeaders(representation),
  ];
  const type = form === 'md5' ? 'text/plain' : mediaTypeOf(variant);
  const own: Pairs = [['Content-Type', `${type}; charset=utf-8`], ...(form === 'gzip' ? ([['Content-Encoding', 'gzip']] as const) : [])];
  return { content, ok: [...common, ...own].flat(), notModified: { status: 304, headers: common.flat(), body: undefined, content } };
}

function commonHeaders({ facts, staleSince }: Representation): Pairs {
  const leftOut = facts.trimmed?.leftOut;
  return [
    ['Cache-Control', 'private, max-age=30, must-revalidate'],
    ['Vary', 'Accept-Encoding, Authorization'],
    NO_SNIFFING,
    ...entryHeaders(facts, staleSince),
    ...(leftOut === undefined ? [] : ([['X-Feed-Left-Out', trimmedHeader(leftOut)]] as const)),
    ...(facts.canary === undefined ? [] : ([['X-Feed-Canary', facts.canary]] as const)),
  ];
}

/** Of a signed statement: its date would not change with it. */
export const signatureHeaders = (representation: Representation, etag: string): readonly string[] =>
  [['ETag', etag] as const, ...commonHeaders(representation)].flat();

const mediaTypeOf = (variant: DocumentVariant): string =>
  variant.document === 'feed' ? FORMATS[variant.format].mediaType : 'application/json';

/** Also on 413. `staleSince`: whole seconds. */
export const entryHeaders = ({ entryCount, entryLimit }: FeedFacts, staleSince: number | undefined): Pairs => [
  ['X-Feed-Entry-Count', String(entryCount)],
  ['X-Feed-Entry-Limit', String(entryLimit)],
  ...(staleSince === undefined ? [] : ([['X-Feed-Stale-Since', formatHttpDate(staleSince)]] as const)),
];

export const okAnswer = ({ ok, content }: PreparedAnswers, body: Uint8Array | string): DocumentAnswer => ({
  status: 200,
  headers: [...ok, 'Content-Length', String(body.length)],
  body,
  content,
});
