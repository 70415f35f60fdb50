import { DAY } from '../clock.ts';
import type { FamilySize, FeedDay } from '../ports/history.ts';

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
