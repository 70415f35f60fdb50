/** A feed contains all rules of a workspace, one list, or, if composed, several lists (SPEC D8). */
import { LIST_SETTINGS, type ListSetting, type ListSettings, NO_SETTINGS, settingsJson } from './list.ts';
import type { WorkspaceSettings } from './workspace.ts';

export type FeedKind = 'workspace' | 'list' | 'composed';

export interface FeedProfile extends ListSettings {
  readonly name: string;
}

export const workspaceProfile = ({
  name,
  subtractAllow,
}: { readonly name: string } & Pick<WorkspaceSettings, 'subtractAllow'>): FeedProfile => ({
  name,
  ...NO_SETTINGS,
  ...(subtractAllow === 'on' && { subtractAllow }),
});

/** Ids of a composed feed's lists by priority; null: all lists of the workspace, future ones included, oldest first. */
export type Members = readonly string[] | null;

/** Not at all, last lists first, networks on fewest lists first, or to its best entries. */
const FITS = ['none', 'lists', 'sources', 'best'] as const;
export type Fit = (typeof FITS)[number];

/** How a feed is composed (SPEC D29). */
export interface FeedMaking {
  /** Independent lists that must contain a network; null: one. */
  readonly minSources: number | null;
  /** null: not at all. */
  readonly fit: Fit | null;
  /** Ids of lists that suffice alone, such as own detections. */
  readonly always: readonly string[];
}

type MakingSetting = 'minSources' | 'fit';

/** Settings that only composed feeds have. A new one needs a row here, a member above and a column in a migration. */
const MAKING_SETTINGS: Readonly<Record<MakingSetting, ListSetting>> = {
  minSources: {
    field: 'min_sources',
    value: 'count',
    least: 1,
    most: 1000,
    help: 'number of independent lists that must contain an address to block it',
  },
  fit: {
    field: 'fit',
    value: 'what',
    words: FITS,
    help: 'what to leave out of a feed over its limit: none (HTTP 413), lists (the last ones first), sources (require more lists to agree), best (all but the best entries)',
  },
};

const { repeat: _, ...SHARED } = LIST_SETTINGS;

/** Settings of lists and feeds: how rules land is one of lists alone. */
export const SHARED_SETTINGS: Readonly<Record<Exclude<keyof ListSettings, 'repeat'>, ListSetting>> = SHARED;

export const FEED_SETTINGS: Readonly<Record<Exclude<keyof ListSettings, 'repeat'> | MakingSetting, ListSetting>> = {
  ...SHARED_SETTINGS,
  ...MAKING_SETTINGS,
};

const MAKING_NAMES = Object.keys(MAKING_SETTINGS) as readonly MakingSetting[];

export const makingOf = (row: Readonly<Record<string, unknown>>): Omit<FeedMaking, 'always'> =>
  Object.fromEntries(MAKING_NAMES.map((name) => [name, row[MAKING_SETTINGS[name].field] ?? null])) as unknown as Omit<FeedMaking, 'always'>;

export const NO_MAKING: FeedMaking = { ...makingOf({}), always: [] };

export const makingJson = ({ minSources, fit, always }: FeedMaking) => ({ min_sources: minSources, fit, always });

/** Its name is unique in the workspace, lists included. */
export interface ComposedFeed extends FeedProfile, FeedMaking {
  readonly id: string;
  readonly workspaceId: string;
  readonly lists: Members;
}

export const feedSettingsJson = (feed: ListSettings): ReturnType<typeof settingsJson> =>
  Object.fromEntries(Object.entries(settingsJson(feed)).filter(([field]) => field !== LIST_SETTINGS.repeat.field));

export const feedState = (feed: Omit<ComposedFeed, 'id' | 'workspaceId'>) => ({
  name: feed.name,
  ...feedSettingsJson(feed),
  all_lists: feed.lists === null,
  lists: feed.lists ?? [],
  ...makingJson(feed),
});

export interface ProposedFeed {
  readonly profile: FeedProfile;
  readonly lists: Members;
  readonly making: FeedMaking;
}

export type FeedPatch = Partial<Omit<ComposedFeed, 'id' | 'workspaceId' | 'name'>>;

export type SavedFeed = Omit<ComposedFeed, 'workspaceId'>;

/** By default one list suffices. */
export type NewFeed = Omit<SavedFeed, 'id' | keyof FeedMaking> & Partial<FeedMaking>;

/**
 * Changes with everything that the feed shows. With never-block rules of all lists, that is the workspace: the result is then negative, to
 * differ from all revisions before that setting.
 */
export const feedRevision = ({ subtractAllow }: Pick<ListSettings, 'subtractAllow'>, own: number, workspace: number): number =>
  subtractAllow === 'workspace' ? -workspace : own;
