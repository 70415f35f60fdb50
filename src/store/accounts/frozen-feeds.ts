import type { FeedProfile } from '../../account/feed.ts';
import type { Canary, FrozenFeed } from '../../ports/snapshot.ts';
import { numberOrNull, type Row } from '../rows.ts';
import { all, type Work } from '../work.ts';

/** Few: at most `MOST_FREEZES`. */
export function* frozenFeeds(workspacePk: number): Work<FrozenFeed[]> {
  const rows = yield* all('SELECT feed, revision, profile, canary, until_at FROM freezes WHERE workspace_pk = $1', workspacePk);
  return rows.map((row) => ({ feedId: feedIn(row), revision: Number(row.revision), profile: profileIn(row), canary: canaryIn(row) }));
}

export const profileIn = (row: Row) => JSON.parse(String(row.profile)) as FeedProfile;
export const canaryIn = (row: Row): Canary | null =>
  row.canary === null ? null : { keys: JSON.parse(String(row.canary)) as string[], until: numberOrNull(row.until_at) };
export const feedIn = ({ feed }: Row) => (feed === '' ? null : String(feed));
