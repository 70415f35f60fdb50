/** Block feeds that still contain an allowed target (SPEC D10.18). */
import type { FeedKind } from '../account/feed.ts';
import { within } from '../clock.ts';
import { codeOf } from '../errors.ts';
import type { FeedExplainer } from '../feed/whatif/explain/explain.ts';
import type { RemainingBlocks, WayOut } from '../feed/whatif/explain/remaining-blocks.ts';
import { nullable, type Static, Type } from '../json/schema.ts';
import type { StoreReads } from '../ports/store.ts';
import { formatTarget, readTarget, targetFieldOf } from '../signal/target.ts';
import type { Unblock } from '../source/unblock.ts';
import { findList } from './find.ts';

const ROW = {
  kind: Type.Enum(['workspace', 'list', 'composed']),
  id: nullable(Type.String()),
  name: Type.String(),
  verdict: Type.Enum(['in', 'partly']),
  by: Type.Array(Type.Object({ target: Type.String(), list: Type.String() }), { description: 'Some of the rules that block it there.' }),
  way_out: nullable(Type.Object({}), {
    description: 'Either subtract_allow with its value, or an unblock in these lists; null: neither is enough.',
  }),
  step: Type.String({ description: 'The same as a sentence.' }),
};

export const STILL_BLOCKED = {
  still_blocked: Type.Optional(
    nullable(Type.Array(Type.Object(ROW)), {
      description:
        'Block feeds that still contain addresses of the value, for action allow, and in previews also for unblock. null: unknown.',
    }),
  ),
  still_blocked_left_out: Type.Optional(Type.Integer({ description: 'Number of further feeds.' })),
  still_blocked_reason: Type.Optional(Type.String({ description: 'The reason if still_blocked is null.' })),
};

export const STILL_BLOCKED_OF = {
  still_blocked: Type.Optional(
    Type.Array(Type.Object({ target: Type.String(), how: Type.Enum(['allow', 'unblock']), ...ROW }), {
      description:
        'Block feeds that still contain addresses of a target, for the first 10 targets with action allow, and in previews also with unblock.',
    }),
  ),
  still_blocked_unknown: Type.Optional(Type.Integer({ description: 'Number of targets for which this is unknown.' })),
};

const StillBlocked = Type.Object(STILL_BLOCKED);
/** Absent without allow or unblock. */
export type StillBlockedFields = Static<typeof StillBlocked>;

/** ms */
const LIMIT = 5_000;

interface Ports {
  readonly store: Pick<StoreReads, 'workspace' | 'findNamed' | 'directory'>;
  readonly explainer: FeedExplainer | undefined;
  readonly workspaceId: string;
}

/** Never rejects: failures are reported as unknown. */
export async function stillBlocked(
  { store, explainer, workspaceId }: Ports,
  value: string,
  list: string | undefined,
  how: Unblock['how'] = 'allow',
): Promise<StillBlockedFields> {
  const unknown = (reason: string) => ({ still_blocked: null, still_blocked_reason: reason });
  if (explainer === undefined) return unknown('this process builds no feeds');
  const target = readTarget(targetFieldOf(value), value);
  if (typeof target === 'string') return unknown(target);
  try {
    const [workspace, directory] = await Promise.all([store.workspace(workspaceId), store.directory(workspaceId)]);
    const lists = directory?.lists ?? [];
    const listId = list === undefined ? lists.find(({ isDefault }) => isDefault)?.id : (await findList(store, workspaceId, list)).id;
    if (workspace === undefined || listId === undefined) return unknown('the list was deleted');
    const remaining = await within(explainer.remainingBlocks({ workspace, target, listId, how }), LIMIT, 'the search in the block feeds');
    const names = new Map(lists.map(({ id, name }) => [id, name]));
    return stillBlockedJson(remaining, { workspace: workspace.name, target: formatTarget(target), names });
  } catch (error) {
    return unknown(codeOf(error) === undefined ? 'the search failed' : (error as Error).message);
  }
}

/** Targets per request. */
const MOST_ASKED = 10;
const StillBlockedOf = Type.Object(STILL_BLOCKED_OF);
export type StillBlockedOfFields = Static<typeof StillBlockedOf>;

/** Targets as `formatTarget` writes them; one time limit for all. */
export async function stillBlockedOf(
  ports: Ports & { readonly now: () => number },
  unblocks: readonly Unblock[],
  list: string | undefined,
): Promise<StillBlockedOfFields> {
  if (unblocks.length === 0) return {};
  const until = ports.now() + LIMIT;
  const rows: NonNullable<StillBlockedOfFields['still_blocked']> = [];
  let unknown = Math.max(0, unblocks.length - MOST_ASKED);
  for (const { target, how } of unblocks.slice(0, MOST_ASKED)) {
    const found = ports.now() > until ? undefined : (await stillBlocked(ports, target, list, how)).still_blocked;
    if (found === undefined || found === null) unknown += 1;
    else rows.push(...found.map((row) => ({ target, how, ...row })));
  }
  return { still_blocked: rows, ...(unknown > 0 && { still_blocked_unknown: unknown }) };
}

interface Wording {
  readonly workspace: string;
  readonly target: string;
  readonly names: ReadonlyMap<string, string>;
}

const stillBlockedJson = ({ feeds, leftOut }: RemainingBlocks, wording: Wording): StillBlockedFields => ({
  still_blocked: feeds.map(({ wayOut, by, ...feed }) => ({
    ...feed,
    by: by.map((rule) => ({ target: rule.target, list: listNames([rule.listId], wording)[0]! })),
    way_out: wayOut?.do === 'unblock' ? { do: wayOut.do, lists: listNames(wayOut.listIds, wording) } : wayOut,
    step: stepOf({ ...feed, wayOut }, wording),
  })),
  ...(leftOut > 0 && { still_blocked_left_out: leftOut }),
});

const listNames = (ids: readonly string[], { names }: Pick<Wording, 'names'>) => ids.map((id) => names.get(id) ?? id);

function stepOf(
  { kind, name, wayOut }: { readonly kind: FeedKind; readonly name: string; readonly wayOut: WayOut },
  wording: Wording,
): string {
  if (wayOut?.do === 'subtract_allow') return subtractionCommand(kind, name, wording.workspace, wayOut.value);
  if (wayOut?.do === 'unblock') return `an unblock of ${wording.target} in ${listNames(wayOut.listIds, wording).join(', ')}`;
  return `no single step removes it: ./weir lookup ${wording.target} --workspace ${shellWord(wording.workspace)} names the rules`;
}

export function subtractionCommand(kind: FeedKind, name: string, workspace: string, value: string): string {
  if (kind === 'workspace') return `./weir workspace set ${shellWord(workspace)} --subtract-allow ${value}`;
  const group = kind === 'list' ? 'list' : 'feed';
  return `./weir ${group} set ${shellWord(name)} --workspace ${shellWord(workspace)} --subtract-allow ${value}`;
}

export const shellWord = (text: string): string => (/^[\w.:@%+,/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
