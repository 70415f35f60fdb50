/** What a feed is made of. */
import type { ListSettings } from './list.ts';

/** What rules a feed is made of: all of the workspace, those of one list. */
export type FeedKind = 'workspace' | 'list';

/** What a feed shows of itself, and the settings that apply where a request says nothing. */
export interface FeedProfile extends ListSettings {
  readonly name: string;
  readonly description: string | null;
}

/**
 * The revision of a feed, which moves with everything that it shows. Where the never-block rules of all lists are cut out that is the
 * whole workspace: then it is made from the workspace's revision, and negative, so that it differs from every one before the setting.
 */
export const feedRevision = ({ subtractAllow }: Pick<ListSettings, 'subtractAllow'>, own: number, workspace: number): number =>
  subtractAllow === 'workspace' ? -workspace : own;
