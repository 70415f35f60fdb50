import { DAY } from '../clock.ts';
import type { FamilySize, FeedDay, RuleDays } from '../ports/history.ts';

const sizeJson = (size: FamilySize | null) => size && { last: size.last, max: size.most };

/** `day`: days since 1970. */
export const dateOf = (day: number): string => new Date(day * DAY).toISOString().slice(0, 10);

export const dayJson = ({ day, v4, v6, hitBytes, ...counts }: FeedDay) => ({
  day: dateOf(day),
  ...counts,
  hit_bytes: hitBytes,
  v4: sizeJson(v4),
  v6: sizeJson(v6),
});

const MOST_LISTS = 10;

/** Active rules at the end of each day from `first` to `last` (since 1970), from their present number backwards. */
export function ruleDaysJson({ since, now, nets }: RuleDays, first: number, last: number) {
  const days = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const netOf = new Map(nets.map(({ listId, day, net }) => [`${listId} ${day}`, net]));
  // A list without rules may have had some.
  const lists = new Map<string, { readonly name: string; readonly rules: number }>([
    ...nets.map(({ listId, name }) => [listId, { name, rules: 0 }] as const),
    ...now.map(({ listId, ...list }) => [listId, list] as const),
  ]);
  const all = [...lists].map(([id, { name, rules }]) => {
    let left = rules;
    const counts = days.toReversed().map((day) => {
      const atEnd = day + 1 < since ? null : left;
      left -= netOf.get(`${id} ${day}`) ?? 0;
      return atEnd;
    });
    return { id, name, rules: counts.reverse() };
  });
  all.sort((a, b) => b.rules.at(-1)! - a.rules.at(-1)! || (a.id < b.id ? -1 : 1));
  const others = all.slice(MOST_LISTS);
  return {
    days: days.map(dateOf),
    lists: all.slice(0, MOST_LISTS),
    others: {
      lists: others.length,
      rules: days.map((day, i) => (day + 1 < since ? null : others.reduce((sum, { rules }) => sum + rules[i]!, 0))),
    },
  };
}
