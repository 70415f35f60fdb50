/** Reconstructs a feed's earlier settings by reverting later changes (SPEC D42.7). Pure. */
import { workspaceProfile } from '../../../account/feed.ts';
import { type ListSettings, NO_SETTINGS, settingsJson, settingsOf } from '../../../account/list.ts';
import { WeirError } from '../../../errors.ts';
import type { SnapshotHead, SnapshotList, WorkspaceDirectory } from '../../../ports/snapshot.ts';
import { hostPrefixes } from '../../widening.ts';

/** A change from the audit log; `at` in ms since 1970. */
export type Replaced = { readonly at: number } & (
  | { readonly of: 'feed' | 'workspace'; readonly before: State }
  /** The settings of a list, which its hosts are served by. */
  | { readonly of: 'hosts'; readonly id: string; readonly before: State }
  | { readonly of: 'list'; readonly id: string; readonly wasThere: boolean }
);

type State = Readonly<Record<string, unknown>>;

/**
 * The settings at `at` (ms); `replaced`: newest first. Rejects with REFUSED if they cannot be reconstructed: the quorum depends on the
 * lists' sources, and a deleted list's rules are not read.
 */
export function headThen(
  head: SnapshotHead,
  directory: Pick<WorkspaceDirectory, 'lists'>,
  replaced: readonly Replaced[],
  at: number,
): SnapshotHead {
  const later = replaced.filter((each) => each.at > at);
  // The oldest change has the original value.
  const then = (of: 'feed' | 'workspace'): State => Object.assign({}, ...later.map((each) => (each.of === of ? each.before : {})));
  const wasThere = new Map(later.flatMap((each) => (each.of === 'list' ? [[each.id, each.wasThere] as const] : [])));
  const [feed, workspace] = [then('feed'), then('workspace')];
  const { name, subtractAllow } = head.profile;
  const isOn = (workspace.subtract_allow ?? subtractAllow) === 'on';
  const profile =
    head.kind === 'workspace'
      ? workspaceProfile({ name, subtractAllow: isOn ? 'on' : 'off' })
      : { ...head.profile, ...settingsOf({ ...settingsJson(head.profile), ...feed }) };
  const settingsOfList = (id: string): ListSettings => {
    const own = directory.lists.find((list) => list.id === id) ?? NO_SETTINGS;
    const before = later.flatMap((each) => (each.of === 'hosts' && each.id === id ? [each.before] : []));
    return settingsOf(Object.assign({}, settingsJson(own), ...before));
  };
  return {
    ...head,
    guardRails: { ...head.guardRails, protect: (workspace.protect as readonly string[] | undefined) ?? head.guardRails.protect },
    profile,
    lists: listsThen(head, directory, feed, wasThere).map((list) => ({
      ...list,
      hosts: hostPrefixes(head.kind === 'list' ? profile : settingsOfList(list.id), profile),
    })),
  };
}

function listsThen(
  head: SnapshotHead,
  { lists }: Pick<WorkspaceDirectory, 'lists'>,
  feed: State,
  wasThere: ReadonlyMap<string, boolean>,
): readonly SnapshotList[] {
  const deleted = [...wasThere].find(([id, was]) => was && !lists.some((list) => list.id === id));
  if (deleted !== undefined)
    throw new WeirError('REFUSED', `the list ${deleted[0]} was deleted, and its earlier rules are unknown: choose a later time`);
  const present = (of: readonly SnapshotList[]) => of.filter(({ id }) => wasThere.get(id) !== false);
  if (!['lists', 'all_lists', 'min_sources', 'fit', 'always'].some((field) => field in feed)) return agreeing(head, present(head.lists));
  if (head.quorum !== undefined || ['min_sources', 'fit', 'always'].some((field) => field in feed))
    throw new WeirError('REFUSED', 'the earlier quorum of the feed cannot be reconstructed: choose a time after its last change');
  const ids = feed.all_lists === true ? lists.map(({ id }) => id) : ((feed.lists ?? []) as readonly string[]);
  const known = ids.flatMap((id) => lists.filter((each) => each.id === id));
  if (known.length < ids.length)
    throw new WeirError('REFUSED', 'the feed had a list that was deleted: choose a time after its last change');
  return present(known.map(({ id, name }) => ({ id, name, key: id, levels: 0 })));
}

function agreeing({ quorum, lists }: SnapshotHead, then: readonly SnapshotList[]): readonly SnapshotList[] {
  if (quorum !== undefined && then.length < lists.length)
    throw new WeirError('REFUSED', 'the earlier quorum of the feed cannot be reconstructed: choose a time after its last change');
  return then;
}
