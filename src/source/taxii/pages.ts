/** SPEC D23.31. */
import { WeirError } from '../../errors.ts';
import { isObject } from '../../signal/normalize.ts';
import { type Ask, isRefused, type Refused } from './ask.ts';

/** Pages, and objects per page. */
const MOST_PAGES = 2_000;
const PAGE = 500;
const TURN = 100;

export interface Pages {
  readonly cursor: string | undefined;
  readonly pages: number;
  /** The server announces more but sends nothing new. */
  readonly isStalled: boolean;
}

interface Envelope {
  readonly objects: readonly unknown[];
  readonly more: boolean;
  readonly next: string | undefined;
}

/** All objects added after `cursor`; `take` returns whether the object is new in this fetch. */
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
    // A server may repeat `next` within one query, and send pages emptied by its filter: continue.
    if (!isNew && (isRepeated || page.next === undefined)) return { cursor: last, pages, isStalled: true };
    if (page.next === undefined && answer.addedLast === undefined)
      throw new WeirError('FETCH', `${objects.href}: announces more objects, but neither next nor X-TAXII-Date-Added-Last`);
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
  // A missing `more` without objects is the end.
  return { objects: objects as readonly unknown[], more: more === true, next: typeof next === 'string' && next !== '' ? next : undefined };
}
