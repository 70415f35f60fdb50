/** A feed as it was set at an earlier moment: what is set now, with the changes since then taken back (SPEC D42.7). Pure. */
import { workspaceProfile } from '../../account/feed.ts';
import { settingsJson, settingsOf } from '../../account/list.ts';
import { WeirError } from '../../errors.ts';
import type { SnapshotHead, SnapshotList, WorkspaceDirectory } from '../../ports/snapshot.ts';

/** What a change replaced of the settings of a feed or of its workspace, as the audit log has it. */
export interface ReplacedSettings {
  /** ms since 1970 */
  readonly at: number;
  readonly of: 'feed' | 'workspace';
  readonly before: Readonly<Record<string, unknown>>;
}

type State = Readonly<Record<string, unknown>>;

/**
 * `head` with what was set at the moment `at` (ms); `replaced` comes newest first. Rejects with REFUSED where that cannot be made again:
 * how lists agree depends on their sources, and the rules of a deleted list are not read.
 */
export function headThen(
  head: SnapshotHead,
  directory: Pick<WorkspaceDirectory, 'lists'>,
  replaced: readonly ReplacedSettings[],
  at: number,
): SnapshotHead {
  const then = (of: ReplacedSettings['of']): State =>
    Object.assign({}, ...replaced.filter((each) => each.of === of && each.at > at).map(({ before }) => before));
  const [feed, workspace] = [then('feed'), then('workspace')];
  const { name, subtractAllow } = head.profile;
  const isOn = (workspace.subtract_allow ?? subtractAllow) === 'on';
  return {
    ...head,
    guardRails: { ...head.guardRails, protect: (workspace.protect as readonly string[] | undefined) ?? head.guardRails.protect },
    profile:
      head.kind === 'workspace'
        ? workspaceProfile({ name, subtractAllow: isOn ? 'on' : 'off' })
        : { ...head.profile, ...settingsOf({ ...settingsJson(head.profile), ...feed }) },
    lists: listsThen(head, directory, feed),
  };
}

function listsThen(head: SnapshotHead, { lists }: Pick<WorkspaceDirectory, 'lists'>, feed: State): readonly SnapshotList[] {
  if (!['lists', 'all_lists', 'min_sources', 'fit', 'always'].some((field) => field in feed)) return head.lists;
  if (head.agreement !== undefined || ['min_sources', 'fit', 'always'].some((field) => field in feed))
    throw new WeirError('REFUSED', 'how the lists of the feed had to agree then cannot be made again: ask from its last change on');
  const ids = feed.all_lists === true ? lists.map(({ id }) => id) : ((feed.lists ?? []) as readonly string[]);
  return ids.map((id) => {
    const list = lists.find((each) => each.id === id);
    if (list === undefined) throw new WeirError('REFUSED', `the feed had the list ${id} then, which was deleted: ask from then on`);
    return { id, name: list.name, key: id, levels: 0 };
  });
}
