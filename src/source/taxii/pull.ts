/** Pulls a collection of TAXII 2.1 and says what list it is (SPEC D23.30 to D23.34): what was added since the last pull, or all of it. */
import { createHash } from 'node:crypto';
import { asker, isRefused, type Refused, type TaxiiServer } from './ask.ts';
import { objectsUrl } from './collection.ts';
import { isLater, readObject } from './indicator.ts';
import { type CollectionList, type KnownCollection, listOf, objectKeeper } from './known.ts';
import { type Pages, readPages } from './pages.ts';

/** Nothing tells what was removed from a collection: it is pulled as a whole so often, ms. */
const WHOLE_EVERY = 24 * 3_600_000;
/** Whether what was known of all of it so long ago does not count any more. */
export const isWholeDue = (completeAt: number, now: number): boolean => now - completeAt >= WHOLE_EVERY || now < completeAt;
/** Rows that are hashed before other work gets its turn. */
const TURN = 1000;

/** What is pulled. */
export interface TaxiiPull {
  readonly server: TaxiiServer;
  /** The id, alias or title of the collection, where the address has several. */
  readonly collection: string | undefined;
  /** What the last pull knew (`knownFrom`); undefined: nothing. */
  readonly known: KnownCollection | undefined;
  /** ms since 1970 */
  readonly now: () => number;
  /** 2,000 when absent. */
  readonly mostPages?: number;
}

/** A pull that came to its end. */
export interface TaxiiPulled {
  /** To be kept for the next pull. */
  readonly known: KnownCollection;
  readonly list: CollectionList;
  /** SHA-256 of the list, hexadecimal. */
  readonly digest: string;
  readonly pages: number;
  readonly bytes: number;
  /** What somebody should know of the server; undefined for nothing. */
  readonly note: string | undefined;
  /** Why the list is not whole: what is known is kept, and the next pull goes on. Absent where it is. */
  readonly partial?: string;
  /** What the server answered where that is why. */
  readonly refused?: Refused | undefined;
}

/** What `KnownCollection.of` is of such a pull: where anything of it changes, what was known is forgotten. */
export const pulledOf = (url: string, collection: string | undefined): string => JSON.stringify([url, collection ?? null]);

/** Pulls. Rejects with FETCH and a sentence where the pull is not whole: what was known stays as it was. */
export async function pullTaxii({ server, collection, known, now, mostPages }: TaxiiPull): Promise<TaxiiPulled | Refused> {
  const { ask, bytes } = asker(server, now);
  const of = pulledOf(server.url, collection);
  const objects = await objectsUrl(ask, server.url, collection);
  if (isRefused(objects)) return objects;
  const at = now();
  const isComplete = known?.of !== of || known.cursor === undefined || isWholeDue(known.completeAt, at);
  let [before, read] = [isComplete ? undefined : known, await pages(isComplete ? undefined : known)];
  if (isRefused(read.pages) && read.pages.status === 400 && before !== undefined) {
    // A server that does not take its own instant any more has all to be asked for again.
    before = undefined;
    read = await pages(undefined);
  }
  if (isRefused(read.pages)) return read.pages;
  const { cursor, pages: count, isStalled } = read.pages;
  const list = listOf(read.objects.values(), at);
  return {
    known: { of, cursor, completeAt: before?.completeAt ?? at, objects: read.objects },
    list,
    digest: await digestOf(list, server.pause),
    pages: count,
    bytes: bytes(),
    note: isStalled ? 'the server says that there is more, and gave nothing new: this was taken as the end' : undefined,
  };

  async function pages(
    from: KnownCollection | undefined,
  ): Promise<{ readonly pages: Pages | Refused; readonly objects: KnownCollection['objects'] }> {
    const keeper = objectKeeper(from?.objects.values());
    // In a pull of all what is kept is what was seen.
    const seen = from === undefined ? undefined : new Map<string, string>();
    const take = (value: unknown): boolean => {
      const object = readObject(value);
      if (object === undefined) return false;
      const isKept = keeper.take(object);
      if (seen === undefined) return isKept;
      const other = seen.get(object.id);
      const isNew = other === undefined || isLater(object.modified, other);
      if (isNew) seen.set(object.id, object.modified);
      return isNew;
    };
    return { pages: await readPages(ask, objects as URL, from?.cursor, take, server.pause, mostPages), objects: keeper.objects };
  }
}

/** SHA-256 of a list, hexadecimal. */
export async function digestOf({ rows }: CollectionList, pause: () => Promise<void>): Promise<string> {
  const hash = createHash('sha256');
  let hashed = 0;
  for (const row of rows) {
    hashed += 1;
    if (hashed % TURN === 0) await pause();
    hash.update(`${JSON.stringify(row)}\n`);
  }
  return hash.digest('hex');
}
