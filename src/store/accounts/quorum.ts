/** The quorum of a composed feed, and which lists copy others according to their sources (SPEC D29). */
import type { FeedMaking } from '../../account/feed.ts';
import type { SourceSettings } from '../../account/source.ts';
import type { QuorumSettings, TrimState } from '../../ports/snapshot.ts';
import { all, allOf, type Work } from '../work.ts';

interface Member {
  readonly pk: number;
  readonly id: string;
}

/** undefined: neither quorum nor trimming. */
export function* quorumOf(
  workspacePk: number,
  making: FeedMaking,
  lists: readonly Member[],
  fits: unknown = null,
): Work<QuorumSettings | undefined> {
  const minSources = making.minSources ?? 1;
  const fit = making.fit === 'none' ? null : making.fit;
  if (minSources < 2 && fit === null) return undefined;
  const always = new Set(making.always);
  const copies = yield* copiesIn(workspacePk, lists);
  return {
    minSources,
    fit,
    fits: new Map(Object.entries(fits === null ? {} : (JSON.parse(String(fits)) as Record<string, TrimState>))),
    always: lists.map(({ id }) => always.has(id)),
    own: lists.map(({ id, pk }) => always.has(id) || !copies.has(pk)),
    copies: copiesAmong(lists, copies),
  };
}

/** By list of the workspace. A name refers to lists, to a feed (all its lists), or to the catalogue. */
function* copiesIn(workspacePk: number, members: readonly Member[]): Work<Map<number, Set<number>>> {
  const rows = yield* all('SELECT list_pk, settings FROM sources WHERE workspace_pk = $1', workspacePk);
  const sources = rows.map((row) => ({ list: Number(row.list_pk), ...(JSON.parse(String(row.settings)) as SourceSettings) }));
  const named = new Map<string, number[]>();
  const note = (name: string, list: number) => named.set(name, [...(named.get(name) ?? []), list]);
  for (const { catalogue, list } of sources) if (catalogue !== null) note(catalogue, list);
  const names = [...new Set(sources.flatMap(({ copies }) => copies))];
  const of = (rows: string) => (places: string) => `SELECT ${rows} WHERE workspace_pk = $1 AND name IN (${places})`;
  for (const { name, pk } of yield* allOf(names, of('name, pk FROM lists'), workspacePk)) note(String(name), Number(pk));
  for (const feed of yield* allOf(names, of('pk, name, all_lists FROM feeds'), workspacePk)) {
    const isAll = Number(feed.all_lists) === 1;
    const own = isAll ? [] : yield* all('SELECT list_pk FROM feed_lists WHERE feed_pk = $1', Number(feed.pk));
    for (const pk of isAll ? members.map((each) => each.pk) : own.map(({ list_pk }) => Number(list_pk))) note(String(feed.name), pk);
  }
  return new Map(sources.map(({ list, copies }) => [list, new Set(copies.flatMap((name) => named.get(name) ?? []))]));
}

/** See `QuorumSettings.copies`. */
function copiesAmong(lists: readonly Member[], copies: ReadonlyMap<number, ReadonlySet<number>>): number[][] {
  const reached = lists.map(({ pk }) => {
    const seen = new Set<number>();
    const next = [pk];
    for (let at = next.pop(); at !== undefined; at = next.pop()) {
      for (const copied of copies.get(at) ?? []) {
        if (seen.has(copied)) continue;
        seen.add(copied);
        next.push(copied);
      }
    }
    return seen;
  });
  return lists.map(({ pk }, place) =>
    lists.flatMap((other, at) => (at !== place && reached[place]!.has(other.pk) && (at < place || !reached[at]!.has(pk)) ? [at] : [])),
  );
}
