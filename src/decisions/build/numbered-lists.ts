/** A published network refers to its list by number. */
import type { SnapshotHead } from '../../ports/snapshot.ts';
import { type Attribution, COMPLETING_LIST, ONE_LIST, SEVERAL } from './coverage.ts';

export interface NumberedLists {
  /** The number of the feed's nth part, from 1; SEVERAL if it has none. */
  readonly of: (part: number) => number;
  /** List names by number. */
  readonly names: readonly string[];
  readonly attribution: Attribution;
  /** Changes with the meaning of any number. */
  readonly order: string;
}

/** For feeds that attribute a network to one list or to several. A list keeps its number when its position changes. */
export class StableNumbers {
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

/** Trimmed lists (by index) last: each network belongs to one list (SPEC D31.2). */
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
