/** Settings of a workspace that decide its feeds, as the archive stores them (SPEC D61.2). */
import { createHash } from 'node:crypto';
import { type ComposedFeed, workspaceProfile } from '../account/feed.ts';
import type { ServiceGuardRails } from '../account/guard-rails.ts';
import type { AccessList } from '../account/list.ts';
import type { Workspace } from '../account/workspace.ts';
import { hostPrefixes } from '../feed/widening.ts';
import type { GeoData } from '../geo/data.ts';
import type { QuorumSettings, SnapshotHead } from '../ports/snapshot.ts';
import type { StoreReads } from '../ports/store.ts';
import type { NamedThing } from '../ports/stored/account-store.ts';

interface ArchivedQuorum extends Omit<QuorumSettings, 'fits'> {
  readonly fits: Readonly<Record<string, string | number>>;
}

/** Settings of the process that writes the archive. */
export interface ServiceSettings {
  readonly guardRails: ServiceGuardRails;
  /** Day and version of the geo data. */
  readonly geo: { readonly country: string; readonly asn: string };
}

export interface ArchivedSettings extends ServiceSettings {
  readonly workspace: Workspace;
  readonly lists: readonly AccessList[];
  readonly feeds: readonly ComposedFeed[];
  /** Of the feeds with a quorum. */
  readonly quorums: readonly {
    readonly feedId: string;
    readonly head: Omit<SnapshotHead, 'quorum'> & { readonly quorum: ArchivedQuorum };
  }[];
  readonly frozen: readonly { readonly feedId: string | null; readonly since: number }[];
  readonly keys: readonly Pick<NamedThing, 'id' | 'name'>[];
}

export const geoVersions = ({ country, asn }: GeoData): ServiceSettings['geo'] => ({
  country: `${country.date} ${country.table.version}`,
  asn: `${asn.date} ${asn.table.version}`,
});

/** Counters change with every rule. */
const STILL = { revision: 0, expressionRevision: 0, change: 0, readAt: 0 };

/** undefined: the workspace was deleted. */
export async function settingsNow(
  store: StoreReads,
  workspaceId: string,
  { guardRails, geo }: ServiceSettings,
  now: number,
): Promise<ArchivedSettings | undefined> {
  const workspace = await store.workspace(workspaceId);
  if (workspace === undefined) return undefined;
  const lists = ((await store.directory(workspaceId))?.lists ?? []).map((list) => ({ ...list, revision: 0 }));
  const feeds = await store.feeds(workspaceId);
  const quorums: ArchivedSettings['quorums'][number][] = [];
  for (const { id: feedId, minSources, fit } of feeds) {
    if ((minSources ?? fit) === null) continue;
    const head = await store.snapshot(workspaceId, feedId, now, undefined);
    if (head?.quorum === undefined) continue;
    const quorum = { ...head.quorum, fits: Object.fromEntries(head.quorum.fits) };
    quorums.push({ feedId, head: { ...head, ...STILL, quorum } });
  }
  return {
    ...{ guardRails, geo, workspace: { ...workspace, people: [] }, lists, feeds, quorums },
    frozen: (await store.freezes(workspaceId)).map(({ feedId, since }) => ({ feedId, since })),
    keys: (await store.names(workspaceId, 'keys')).map(({ id, name }) => ({ id, name })),
  };
}

export const digestOf = (settings: ArchivedSettings): string => createHash('sha256').update(JSON.stringify(settings)).digest('hex');

/** The head of a feed with a quorum, as the store returns it. */
export function headOf({ quorums }: ArchivedSettings, feedId: string | null): SnapshotHead | undefined {
  const found = quorums.find((each) => each.feedId === feedId)?.head;
  return found && { ...found, quorum: { ...found.quorum, fits: new Map(Object.entries(found.quorum.fits)) } };
}

/** As `headOf`, for any feed, without levels; undefined: there was none. */
export function anyHeadOf(settings: ArchivedSettings, feedId: string | null): SnapshotHead | undefined {
  const { workspace, lists, feeds } = settings;
  const head = ({ kind, profile }: Pick<SnapshotHead, 'kind' | 'profile'>, own: readonly AccessList[]): SnapshotHead => ({
    ...{ ...STILL, kind, profile, guardRails: workspace, quorum: undefined, workspaceCreatedAt: workspace.createdAt },
    lists: own.map((list) => ({ id: list.id, name: list.name, key: list.id, levels: 0, hosts: hostPrefixes(list, profile) })),
  });
  if (feedId === null) return head({ kind: 'workspace', profile: workspaceProfile(workspace) }, lists);
  const list = lists.find(({ id }) => id === feedId);
  if (list !== undefined) return head({ kind: 'list', profile: list }, [list]);
  const feed = feeds.find(({ id }) => id === feedId);
  if (feed === undefined) return undefined;
  const members = feed.lists?.flatMap((id) => lists.filter((each) => each.id === id)) ?? lists;
  return headOf(settings, feedId) ?? head({ kind: 'composed', profile: feed }, members);
}
