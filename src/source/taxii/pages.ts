/** The pages of a TAXII 2.1 collection (SPEC D23.31): asked for one after the other, and never without end. */
import { WeirError } from '../../errors.ts';
import { isObject } from '../../signal/normalize.ts';
import { type Ask, isRefused, type Refused } from './ask.ts';

/** Pages of one pull, and objects that are asked for at a time. */
const MOST_PAGES = 2_000;
const PAGE = 500;
/** Objects that are read before other work gets its turn. */
const TURN = 100;

/** What came of the pages. */
export interface Pages {
  /** What the next pull asks for with `added_after`, as the server wrote it; undefined where it told nothing. */
  readonly cursor: string | undefined;
  readonly pages: number;
  /** Whether the server says that there is more, but gives nothing new. */
  readonly isStalled: boolean;
}

interface Envelope {
  readonly objects: readonly unknown[];
  readonly more: boolean;
  readonly next: string | undefined;
}

/** Hands every object of a collection that was added after `cursor` to `take`, which says whether it is new in this pull. */
export async function readPages(
  ask: Ask,
  objects: URL,
  cursor: string | undefined,
  take: (object: unknown) => boolean,
  pause: () => Promise<void>,
  most = MOST_PAGES,
): Promise<Pages | Refused> {
  let after = cursor;
  let [next, last]: (string | undefined)[] = [undefined, cursor];
  const asked = new Set<string>();
  for (let pages = 1; pages <= most; pages += 1) {
    const url = pageUrl(objects, after, next);
    const isRepeated = asked.has(url.href);
    asked.add(url.href);
    const answer = await ask(url);
    if (isRefused(answer)) return answer;
    const page = readEnvelope(answer.json);
    let isNew = false;
    for (const [i, object] of page.objects.entries()) {
      if (i % TURN === 0) await pause();
      isNew = take(object) || isNew;
    }
    if (page.objects.length > 0) last = answer.addedLast ?? last;
    if (!page.more) return { cursor: last, pages, isStalled: false };
    // A server may give the same `next` for each page of one query, and pages on which its filter leaves nothing: both go on.
    if (!isNew && (isRepeated || page.next === undefined)) return { cursor: last, pages, isStalled: true };
    if (page.next === undefined && answer.addedLast === undefined)
      throw new WeirError('FETCH', `${objects.href}: says that there is more, and neither what is next nor when the last was added`);
    // What is next is asked for with the query that it came from.
    next = page.next;
    if (next === undefined) after = answer.addedLast;
  }
  throw new WeirError('FETCH', `${objects.href}: has more than ${most} pages`);
}

function pageUrl(objects: URL, after: string | undefined, next: string | undefined): URL {
  const url = new URL(objects);
  url.searchParams.set('match[type]', 'indicator');
  url.searchParams.set('limit', String(PAGE));
  if (after !== undefined) url.searchParams.set('added_after', after);
  if (next !== undefined) url.searchParams.set('next', next);
  return url;
}

function readEnvelope(json: unknown): Envelope {
  if (!isObject(json) || !(json.objects === undefined || Array.isArray(json.objects)))
    throw new WeirError('FETCH', 'the answer is no envelope of TAXII 2.1');
  const { objects = [], more, next } = json;
  // Without objects the end is meant where nothing else is said.
  return { objects: objects as readonly unknown[], more: more === true, next: typeof next === 'string' && next !== '' ? next : undefined };
}
