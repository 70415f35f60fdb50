/** What a feed is made of. */
import type { ListSettings } from './list.ts';

/** What rules a feed is made of: all of the workspace, those of one list. */
export type FeedKind = 'workspace' | 'list';

/** What a feed shows of itself, and the settings that apply where a request says nothing. */
export interface FeedProfile extends ListSettings {
  readonly name: string;
  readonly description: string | null;
}
