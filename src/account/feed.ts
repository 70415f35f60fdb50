/** What a feed is made of: all of a workspace, one list, or, for a composed feed, several lists (SPEC D8). */
import { LIST_SETTINGS, type ListSetting, type ListSettings, listState, NO_SETTINGS } from './list.ts';
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

/**
 * The lists that a composed feed is made of, by id, in the order of their weight; null: all lists of the workspace, also those that are
 * made later, the oldest first.
 */
export type Members = readonly string[] | null;

/** What a feed leaves out where it would pass its cap: nothing, lists from the end of their order, or what fewer lists have. */
const FITS = ['none', 'lists', 'sources'] as const;
export type Fit = (typeof FITS)[number];

/** How lists make a composed feed (SPEC D29). */
export interface FeedMaking {
  /** How many independent lists have to have what is blocked; null: one. */
  readonly minSources: number | null;
  /** What is left out where the feed would pass its cap; null: nothing. */
  readonly fit: Fit | null;
  /** Lists of the feed, by id, each of which is enough by itself: own detections. */
  readonly always: readonly string[];
}

type MakingSetting = 'minSources' | 'fit';

/** The settings of a composed feed that lists do not have. A new one needs its row here, its member above and its column in a migration. */
const MAKING_SETTINGS: Readonly<Record<MakingSetting, ListSetting>> = {
  minSources: {
    field: 'min_sources',
    value: 'count',
    least: 1,
    most: 1000,
    help: 'how many independent lists of the feed have to have what it blocks',
  },
  fit: {
    field: 'fit',
    value: 'what',
    words: FITS,
    help: 'what to leave out where the feed would pass its cap: none (413), lists from the end of their order, sources (more have to agree)',
  },
};

/** All settings of a composed feed. */
export const FEED_SETTINGS: Readonly<Record<keyof ListSettings | MakingSetting, ListSetting>> = { ...LIST_SETTINGS, ...MAKING_SETTINGS };

const MAKING_NAMES = Object.keys(MAKING_SETTINGS) as readonly MakingSetting[];

/** The settings in a row of the store or an object of JSON, whose values were checked before. */
export const makingOf = (row: Readonly<Record<string, unknown>>): Omit<FeedMaking, 'always'> =>
  Object.fromEntries(MAKING_NAMES.map((name) => [name, row[MAKING_SETTINGS[name].field] ?? null])) as unknown as Omit<FeedMaking, 'always'>;

/** How lists make a feed of which nothing is set: each is enough. */
export const NO_MAKING: FeedMaking = { ...makingOf({}), always: [] };

/** How lists make a feed, as JSON has it. */
export const makingJson = ({ minSources, fit, always }: FeedMaking) => ({ min_sources: minSources, fit, always });

/** A feed made of lists. Its name is unique in the workspace, among lists too. */
export interface ComposedFeed extends FeedProfile, FeedMaking {
  readonly id: string;
  readonly workspaceId: string;
  readonly lists: Members;
}

/** What can be edited of a composed feed, as JSON has it. */
export const feedState = (feed: Omit<ComposedFeed, 'id' | 'workspaceId'>) => ({
  ...listState(feed),
  all_lists: feed.lists === null,
  lists: feed.lists ?? [],
  ...makingJson(feed),
});

/** A composed feed that is not stored: what it would be is asked. */
export interface ProposedFeed {
  readonly profile: FeedProfile;
  readonly lists: Members;
  readonly making: FeedMaking;
}

/** A change of what is set of a composed feed; what it does not name stays as it is. */
export type FeedPatch = Partial<Omit<ComposedFeed, 'id' | 'workspaceId' | 'name'>>;

/** A composed feed as a store holds it, for `weir export` and `weir import`. */
export type SavedFeed = Omit<ComposedFeed, 'workspaceId'>;

/** A composed feed that is made; how its lists make it where that is not said: each is enough. */
export type NewFeed = Omit<SavedFeed, 'id' | keyof FeedMaking> & Partial<FeedMaking>;

/**
 * The revision of a feed, which moves with everything that it shows. Where the never-block rules of all lists are cut out that is the
 * whole workspace: then it is made from the workspace's revision, and negative, so that it differs from every one before the setting.
 */
export const feedRevision = ({ subtractAllow }: Pick<ListSettings, 'subtractAllow'>, own: number, workspace: number): number =>
  subtractAllow === 'workspace' ? -workspace : own;
