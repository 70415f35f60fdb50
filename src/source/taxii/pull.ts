/** Incrementally or completely (SPEC D23.30 to D23.34). */
import { createHash } from 'node:crypto';
import { asker, isRefused, type Refused, type TaxiiServer } from './ask.ts';
import { objectsUrl } from './collection.ts';
import { isLater, readObject } from './indicator.ts';
import { type CollectionList, type KnownCollection, listOf, objectKeeper } from './known.ts';
import { type Pages, readPages } from './pages.ts';

/** ms: servers do not report removals. */
const COMPLETE_EVERY = 24 * 3_600_000;
/** Also due if the last complete fetch is in the future. */
export const isCompleteDue = (completeAt: number, now: number): boolean => now - completeAt >= COMPLETE_EVERY || now < completeAt;
const TURN = 1000;

export interface TaxiiPull {
  readonly server: TaxiiServer;
  /** Id, alias or title, if the address has several collections. */
  readonly collection: string | undefined;
  /** From `knownFrom`; undefined: nothing known. */
  readonly known: KnownCollection | undefined;
  readonly now: () => number;
  readonly mostPages?: number;
}

export interface TaxiiPulled {
  readonly known: KnownCollection;
  readonly list: CollectionList;
  readonly digest: string;
  readonly pages: number;
  readonly bytes: number;
  readonly note: string | undefined;
  /** The next fetch continues. Absent for a complete list. */
  readonly partial?: string;
  /** What the server answered where that is why. */
  readonly refused?: Refused | undefined;
}

/** `KnownCollection.of`; a change discards the known objects. */
export const pulledOf = (url: string, collection: string | undefined): string => JSON.stringify([url, collection ?? null]);

/** Rejects with FETCH and a sentence; the known objects are then unchanged. */
export async function pullTaxii({ server, collection, known, now, mostPages }: TaxiiPull): Promise<TaxiiPulled | Refused> {
  const { ask, bytes } = asker(server, now);
  const of = pulledOf(server.url, collection);
  const objects = await objectsUrl(ask, server.url, collection);
  if (isRefused(objects)) return objects;
  const at = now();
  const isComplete = known?.of !== of || known.cursor === undefined || isCompleteDue(known.completeAt, at);
  let [before, read] = [isComplete ? undefined : known, await pages(isComplete ? undefined : known)];
  if (isRefused(read.pages) && read.pages.status === 400 && before !== undefined) {
    // The server rejects its own cursor: fetch everything.
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
    note: isStalled ? 'the server announces more objects but sends nothing new: treated as the end' : undefined,
  };

  async function pages(
    from: KnownCollection | undefined,
  ): Promise<{ readonly pages: Pages | Refused; readonly objects: KnownCollection['objects'] }> {
    const keeper = objectKeeper(from?.objects.values());
    // A complete fetch retains only objects seen in it.
    const seen = from === undefined ? undefined : new Map<string, string>();
    const take = (value: unknown): boolean => {
      const object = readObject(value);
      if (object === undefined) return false;
      const isUpdate = keeper.take(object);
      if (seen === undefined) return isUpdate;
      const other = seen.get(object.id);
      const isNew = other === undefined || isLater(object.modified, other);
      if (isNew) seen.set(object.id, object.modified);
      return isNew;
    };
    return { pages: await readPages(ask, objects as URL, from?.cursor, take, server.pause, mostPages), objects: keeper.objects };
  }
}

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
