/** What a feed is made of: all of a workspace, one list, or, for a composed feed, several lists (SPEC D8). */
import { type ListSettings, listState, NO_SETTINGS } from './list.ts';
import type { WorkspaceSettings } from './workspace.ts';

export type FeedKind = 'workspace' | 'list' | 'composed';

/** What a feed shows of itself, and the settings that apply where a request says nothing. */
export interface FeedProfile extends ListSettings {
  readonly name: string;
}

/** What the feed of a workspace shows of itself. */
export const workspaceProfile = ({
  name,
  subtractAllow,
}: { readonly name: string } & Pick<WorkspaceSettings, 'subtractAllow'>): FeedProfile => ({
  name,
  ...NO_SETTINGS,
  ...(subtractAllow === 'on' && { subtractAllow }),
});

/** The lists that a composed feed is made of, by id; null: all lists of the workspace, also those that are made later. */
export type Members = readonly string[] | null;

/** A feed made of lists. Its name is unique in the workspace, among lists too. */
export interface ComposedFeed extends FeedProfile {
  readonly id: string;
  readonly workspaceId: string;
  readonly lists: Members;
}

/** What can be edited of a composed feed, as JSON has it. */
export const feedState = (feed: Omit<ComposedFeed, 'id' | 'workspaceId'>) => ({
  ...listState(feed),
  all_lists: feed.lists === null,
  lists: feed.lists?.toSorted() ?? [],
});

/** A composed feed that is not stored: what it would be is asked. */
export interface ProposedFeed {
  readonly profile: FeedProfile;
  readonly lists: Members;
}

/** A change of what is set of a composed feed; what it does not name stays as it is. */
export type FeedPatch = Partial<Omit<ComposedFeed, 'id' | 'workspaceId' | 'name'>>;

/** A composed feed as a store holds it, for `weir export` and `weir import`. */
export type SavedFeed = Omit<ComposedFeed, 'workspaceId'>;

/**
 * The revision of a feed, which moves with everything that it shows. Where the never-block rules of all lists are cut out that is the
 * whole workspace: then it is made from the workspace's revision, and negative, so that it differs from every one before the setting.
 */
export const feedRevision = ({ subtractAllow }: Pick<ListSettings, 'subtractAllow'>, own: number, workspace: number): number =>
  subtractAllow === 'workspace' ? -workspace : own;
