/** The lists of a feed by numbers: networks are told to be of them. */
import type { SnapshotHead } from '../../ports/snapshot.ts';
import { type Attribution, COMPLETING_LIST, ONE_LIST, SEVERAL } from './coverage.ts';

export interface NumberedLists {
  /** The number of the list that a part of the feed is of, by the part's place, from 1 on; SEVERAL for one that has none. */
  readonly of: (part: number) => number;
  /** What each is called, by number. */
  readonly names: readonly string[];
  readonly attribution: Attribution;
  /** Another where a number stands for another list. */
  readonly order: string;
}

/** The numbers of lists whose networks are told to be of one list, or of several. A list keeps its number, whatever its place. */
export class KeptNumbers {
  readonly #numbers = new Map<string, number>();
  #names: readonly string[] = [];

  of({ lists }: Pick<SnapshotHead, 'lists'>): NumberedLists {
    const numbers: number[] = [];
    const names: string[] = [...this.#names];
    for (const { id, name } of lists) {
      const number = this.#numbers.get(id) ?? this.#numbers.size + 1;
      this.#numbers.set(id, number);
      names[number - 1] = name;
      numbers.push(number);
    }
    this.#names = names;
    return { of: (part) => numbers[part] ?? SEVERAL, names, attribution: ONE_LIST, order: '' };
  }
}

/** Numbers in the order of the lists, those that are left out (by their places) behind all others: each network is of one list (SPEC D31.2). */
export function numbersInOrder({ lists }: Pick<SnapshotHead, 'lists'>, left: readonly number[]): NumberedLists {
  const places = [...lists.keys()];
  const ordered = [...places.filter((place) => !left.includes(place)), ...left];
  const numbers = new Int32Array(lists.length);
  for (const [at, place] of ordered.entries()) numbers[place] = at + 1;
  return {
    of: (part) => numbers[part] ?? SEVERAL,
    names: ordered.map((place) => lists[place]!.name),
    attribution: COMPLETING_LIST,
    order: ordered.map((place) => lists[place]!.id).join(),
  };
}
