/** Known objects between fetches, and the position of the next one (SPEC D23.33, D23.34). */
import { WeirError } from '../../errors.ts';
import { isObject } from '../../signal/normalize.ts';
import { isLater, type KnownObject, passedNow } from './indicator.ts';

/** Objects, and characters stored for them. */
export const MOST_OBJECTS = 100_000;
const MOST_BYTES = 64 * 1024 * 1024;

export interface KnownCollection {
  /** A change discards the objects. */
  readonly of: string;
  /** `added_after` of the next fetch, in the server's text; undefined: fetch everything. */
  readonly cursor: string | undefined;
  readonly completeAt: number;
  /** The latest version by id. */
  readonly objects: ReadonlyMap<string, KnownObject>;
}

/** Throws FETCH above the maximum. */
export function objectKeeper(before: Iterable<KnownObject> = []): {
  readonly objects: ReadonlyMap<string, KnownObject>;
  /** False unless the object is new or later. */
  take(object: KnownObject): boolean;
} {
  const objects = new Map<string, KnownObject>();
  let size = 0;
  const sizeOf = ({ id, networks, name = '' }: KnownObject) =>
    id.length + name.length + networks.reduce((sum, { length }) => sum + length, 200);
  const take = (object: KnownObject): boolean => {
    const known = objects.get(object.id);
    if (known !== undefined && !isLater(object.modified, known.modified)) return false;
    size += sizeOf(object) - (known === undefined ? 0 : sizeOf(known));
    objects.set(object.id, object);
    if (objects.size > MOST_OBJECTS || size > MOST_BYTES)
      throw new WeirError(
        'FETCH',
        `the collection has more than ${MOST_OBJECTS} objects, or more than ${MOST_BYTES / 2 ** 20} MiB of them`,
      );
    return true;
  };
  for (const object of before) take(object);
  return { objects, take };
}

export interface CollectionList {
  readonly rows: Iterable<ReturnType<typeof rowOf>>;
  readonly passed: Readonly<Record<string, number>>;
}

/** Of several indicators of a network the longest one wins, then the first id. */
export function listOf(objects: Iterable<KnownObject>, now: number): CollectionList {
  const passed: Record<string, number> = Object.create(null);
  const byNetwork = new Map<string, KnownObject>();
  for (const object of objects) {
    const why = object.networks.length === 0 ? undefined : passedNow(object, now);
    for (const reason of why === undefined ? object.passed : [why]) passed[reason] = (passed[reason] ?? 0) + 1;
    if (why !== undefined) continue;
    for (const network of object.networks) {
      const known = byNetwork.get(network);
      if (known === undefined || comesBefore(object, known)) byNetwork.set(network, object);
    }
  }
  const networks = [...byNetwork.keys()].sort();
  const rows = { [Symbol.iterator]: () => networks.values().map((network) => rowOf(network, byNetwork.get(network)!)) };
  return { rows, passed };
}

const endOf = ({ until }: KnownObject): number => (until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until));
const comesBefore = (one: KnownObject, other: KnownObject): boolean =>
  endOf(one) === endOf(other) ? one.id < other.id : endOf(one) > endOf(other);

const rowOf = (value: string, { id, until, name, confidence }: KnownObject) => ({
  value,
  labels: { indicator: id },
  ...(until !== undefined && { expires_at: until }),
  ...(name !== undefined && { reason: name }),
  ...(confidence !== undefined && { confidence }),
});

/** Serializes a header line, then the objects. */
export function* linesOf({ objects, ...head }: KnownCollection): Generator<string> {
  yield `${JSON.stringify(head)}\n`;
  for (const object of objects.values()) yield `${JSON.stringify(object)}\n`;
}

/** undefined if foreign, damaged or outdated (`isDue`): everything is fetched again. */
export async function knownFrom(
  lines: AsyncIterable<string>,
  of: string,
  isDue: (completeAt: number) => boolean = () => false,
): Promise<KnownCollection | undefined> {
  let head: Omit<KnownCollection, 'objects'> | undefined;
  const keeper = objectKeeper();
  try {
    for await (const line of lines) {
      const value: unknown = JSON.parse(line);
      if (!isObject(value)) return undefined;
      if (head !== undefined) keeper.take(value as unknown as KnownObject);
      else if (value.of !== of || typeof value.completeAt !== 'number' || isDue(value.completeAt)) return undefined;
      else head = { of, cursor: typeof value.cursor === 'string' ? value.cursor : undefined, completeAt: value.completeAt };
    }
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof WeirError) return undefined;
    throw error;
  }
  return head && { ...head, objects: keeper.objects };
}
