import type { Caller } from '../../account/caller.ts';
import { type DecisionRequest, versionText } from '../../decisions/decisions.ts';
import type { BouncerName, Bouncers } from '../../decisions/serve/bouncers.ts';
import type { FindDecisions, NoDecisions } from '../../decisions/serve/find-decisions.ts';
import type { RecordHits } from '../../decisions/serve/hit-recorder.ts';
import { hitWindows } from '../../decisions/serve/hits.ts';
import { enforcedIn, storedMetrics, usageReport } from '../../decisions/serve/metrics.ts';
import { BUSY, type SharedAnswer } from '../../decisions/serve/shared-answers.ts';
import { isSameMark, type Line, type Waiting } from '../../decisions/serve/waiting.ts';
import { hasCode } from '../../errors.ts';
import { type Answer, jsonAnswer, NO_SNIFFING } from '../answer.ts';
import type { HttpFault } from '../errors.ts';
import { negotiateCoding } from '../feeds/encoding.ts';
import { hintOf, redacted } from '../feeds/refusals.ts';
import { readCurrentQuery, readStreamQuery } from './query.ts';

export interface BouncerRequest {
  readonly caller: Caller;
  readonly userAgent: string;
  readonly address: string;
  /** Without the question mark. */
  readonly query: string;
  readonly acceptEncoding: string | undefined;
  /** After the request has waited (SPEC D50.7). */
  readonly readmit: () => Promise<HttpFault | undefined>;
  /** While nothing is sent for `ms`. Call `end` before sending. */
  readonly keepOpen: (ms: number) => Line & { end(): void };
}

export interface BouncerAnswer {
  readonly answer: Answer;
  readonly onSent: () => void;
}

/** SPEC D14. */
export interface BouncerEndpoints {
  stream(request: BouncerRequest): Promise<BouncerAnswer | HttpFault>;
  current(request: BouncerRequest): Promise<BouncerAnswer | HttpFault>;
  usage(request: Omit<BouncerRequest, 'readmit'>, body: Buffer): Promise<Answer | HttpFault>;
  /** SPEC D45.3. */
  refused(request: Client & { readonly caller: Bound }, status: number): void;
}

type Client = Pick<BouncerRequest, 'userAgent' | 'address'>;
type Bound = Pick<Caller, 'workspaceId' | 'keyId' | 'listId' | 'feedId'>;

/** The signed statement about an answer (SPEC D63.6). */
export type Sign = (found: SharedAnswer, feed: Pick<BouncerName, 'workspaceId' | 'feedId'>) => Promise<string | HttpFault>;

interface BouncerOptions {
  readonly decisions: FindDecisions;
  readonly sign: Sign;
  readonly bouncers: Bouncers;
  readonly waiting: Pick<Waiting, 'wait'>;
  readonly hits: RecordHits;
  readonly now: () => number;
  readonly monotonic: () => number;
  readonly report: (error: Error) => void;
}

const NO_STORE = { 'Cache-Control': 'no-store' };
export const NO_OBJECT: HttpFault = { status: 400, message: 'The body is not a JSON object' };
export const MANY_ANSWERS: HttpFault = {
  status: 429,
  message: 'Too many different responses to bouncers of the workspace are in progress',
  headers: { 'Retry-After': '5' },
};
export const MANY_WAIT: HttpFault = {
  status: 429,
  message: 'Too many clients of the key (WAITING_PER_KEY) or the workspace (WAITING_PER_WORKSPACE) are waiting; fetch without wait',
  headers: { 'Retry-After': '5' },
};
export const MANY_REPORTS: HttpFault = {
  status: 429,
  message: 'Too many reports of the workspace are pending',
  headers: { 'Retry-After': '5' },
};
const NOTHING = jsonAnswer(200, 'null', NO_STORE);
const STORED = jsonAnswer(201, '{"message":"usage metrics are stored"}', NO_STORE);
const HEADERS = [
  'Content-Type',
  'application/json; charset=utf-8',
  ...Object.entries(NO_STORE).flat(),
  'Vary',
  'Accept-Encoding',
  ...NO_SNIFFING,
];
/** Of a bouncer's name, characters. */
const LONGEST_NAME = 256;

export function bouncerEndpoints({ decisions, sign, bouncers, waiting, hits, now, monotonic, report }: BouncerOptions): BouncerEndpoints {
  const find = async (request: DecisionRequest, caller: Caller): Promise<SharedAnswer | HttpFault> => {
    try {
      const found = await decisions(request, caller.keyId);
      if (found === BUSY) return MANY_ANSWERS;
      return 'kind' in found ? refusalOf(redacted(found, caller)) : found;
    } catch (error) {
      // The cache has reported it.
      if (!hasCode(error, 'FEED_UNAVAILABLE')) report(error as Error);
      return { status: 500 };
    }
  };
  const sent = async (
    found: SharedAnswer,
    acceptEncoding: string | undefined,
    onSent: () => void,
    more: readonly string[] = [],
  ): Promise<BouncerAnswer> => {
    const isZipped = negotiateCoding(acceptEncoding) === 'gzip';
    const onClosed = found.hold();
    try {
      const body = isZipped ? await found.gzip() : found.bytes;
      const coding = isZipped ? ['Content-Encoding', 'gzip'] : [];
      return {
        answer: {
          status: 200,
          headers: [...HEADERS, ...coding, ...checkHeaders(found), ...more, 'Content-Length', String(body.length)],
          body,
          onClosed,
        },
        onSent,
      };
    } catch (error) {
      onClosed();
      throw error;
    }
  };
  const signedBy = async (found: SharedAnswer, name: BouncerName): Promise<string | HttpFault> => {
    try {
      return await sign(found, name);
    } catch (error) {
      report(error as Error);
      return { status: 500 };
    }
  };
  const moment = () => ({ wall: now(), monotonic: monotonic() });

  return {
    async stream({ caller, query, acceptEncoding, keepOpen, readmit, ...client }) {
      const name = nameOf(caller, client);
      const asked = readStreamQuery(query);
      if ('status' in asked) return asked;
      const { startup, wait, isSigned, filter, filtered } = asked;
      const { workspaceId, feedId, keyId } = name;
      const checks = wait !== undefined || asked.since !== undefined || isSigned;
      const ask = () => {
        const since = startup ? null : asked.since === undefined ? bouncers.since(name, filtered) : asked.since;
        return find({ workspaceId, feedId, filter, ask: { since }, ...(checks && { checks }) }, caller);
      };
      // A client that knows that its feed is over the cap waits for the end of that.
      const isKnown = (fault: HttpFault) => fault.status === 413 && bouncers.refusal(name) === 413;
      let found = await ask();
      if (!startup && wait !== undefined && (!('status' in found) || isKnown(found))) {
        const end = monotonic() + wait * 1000;
        const has = asked.since === undefined ? bouncers.last(name, filtered) : asked.since;
        const line = keepOpen(wait * 1000);
        for (let mayWait = true; mayWait && ('status' in found ? isKnown(found) : isSameMark(has, found.mark) || isEmpty(found)); ) {
          const mark = 'status' in found ? null : found.mark;
          const contentId = 'status' in found ? feedId : found.contentId;
          const waited = waiting.wait({ workspaceId, feedId: contentId, keyId, mark, until: end, line });
          if (waited === undefined) found = MANY_WAIT;
          else {
            mayWait = waited !== 'newer' && (await waited);
            // Durations count from an answer's creation.
            const isCurrent = !mayWait && waited !== 'newer' && ('status' in found || isEmpty(found));
            if (line.isOpen) found = (await readmit()) ?? (isCurrent ? found : await ask());
          }
        }
        line.end();
      }
      if ('status' in found) return found;
      const pull = { mark: found.mark, filter: filtered };
      const onSent = () => bouncers.answered(name, found, pull, moment());
      if (!isSigned) return sent(found, acceptEncoding, onSent);
      const signed = await signedBy(found, name);
      return typeof signed === 'string' ? sent(found, acceptEncoding, onSent, ['X-Feed-Signature', toBase64(signed)]) : signed;
    },
    async current({ caller, query, acceptEncoding, ...client }) {
      const name = nameOf(caller, client);
      const asked = readCurrentQuery(query);
      if ('status' in asked) return asked;
      const { network, isEmpty, filter } = asked;
      const found = await find({ workspaceId: name.workspaceId, feedId: name.feedId, filter, ask: { network } }, caller);
      if ('status' in found) return found;
      const onSent = () => bouncers.answered(name, found, undefined, moment());
      return isEmpty ? { answer: NOTHING, onSent } : sent(found, acceptEncoding, onSent);
    },
    refused({ caller, ...client }, status) {
      bouncers.refused(nameOf(caller, client), status, now());
    },
    async usage({ caller, ...client }, body) {
      const usage = usageReport(body);
      if (usage === undefined) return NO_OBJECT;
      const { workspaceId, keyId, listId } = caller;
      const enforced = enforcedIn(usage);
      if (typeof enforced === 'string') return { status: 400, message: enforced };
      const name = nameOf(caller, client);
      bouncers.reported(name, storedMetrics(usage), now());
      if (enforced !== null) bouncers.enforces(name, enforced, now());
      const windows = hitWindows(usage, keyId);
      if (windows.length === 0) return STORED;
      try {
        return (await hits(workspaceId, { listId, windows })) ? STORED : MANY_REPORTS;
      } catch {
        // The writer has reported it.
        return { status: 500 };
      }
    },
  };
}

const toBase64 = (text: string): string => Buffer.from(text).toString('base64');

/** SPEC D50.5. */
const checkHeaders = ({ since, check }: SharedAnswer): string[] =>
  check === undefined
    ? []
    : [
        ...['X-Feed-Version', check.version, 'X-Feed-Count', String(check.count), 'X-Feed-Digest', check.digest],
        ...(since === null ? [] : ['X-Feed-Since', versionText(since)]),
      ];

/** The change concerns no decision that the filter selects. */
const isEmpty = ({ since, bytes }: SharedAnswer): boolean => since !== null && bytes.length === EMPTY.length;
const EMPTY = '{"new":[],"deleted":[]}';

const nameOf = ({ workspaceId, keyId, listId, feedId }: Bound, { userAgent, address }: Client): BouncerName => ({
  ...{ workspaceId, keyId, feedId: listId ?? feedId, userAgent: userAgent.slice(0, LONGEST_NAME), address },
});

export const NO_LIST: HttpFault = { status: 404, message: 'The list or feed of this API key no longer exists' };

const REFUSALS: Readonly<Record<Exclude<NoDecisions['kind'], 'too_large'>, HttpFault>> = {
  unknown_list: NO_LIST,
  ambiguous: NO_LIST,
  forbidden: { status: 403 },
  no_workspace: { status: 403 },
};

export const refusalOf = (found: NoDecisions): HttpFault =>
  found.kind === 'too_large'
    ? { status: 413, message: `The feed has ${found.facts.entryCount} decisions; its limit is ${found.facts.entryLimit}. ${hintOf(found)}` }
    : REFUSALS[found.kind];
