/** Block feeds that keep what shall never be blocked, in the words of programs and of people (SPEC D10.18). */
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
  by: Type.Array(Type.Object({ target: Type.String(), list: Type.String() }), { description: 'Some of the rules that keep it there.' }),
  way_out: nullable(Type.Object({}), {
    description: 'subtract_allow with its value, or an unblock in these lists; null: neither is enough.',
  }),
  step: Type.String({ description: 'The same as a sentence.' }),
};

/** The block feeds that have a target still, in API documents. */
export const STILL_BLOCKED = {
  still_blocked: Type.Optional(
    nullable(Type.Array(Type.Object(ROW)), {
      description:
        'With action allow, in previews also with unblock: the block feeds that have addresses of the value all the same. null: that was not found out.',
    }),
  ),
  still_blocked_left_out: Type.Optional(Type.Integer({ description: 'How many more feeds have it.' })),
  still_blocked_reason: Type.Optional(Type.String({ description: 'Why still_blocked is null.' })),
};

/** The same of several targets. */
export const STILL_BLOCKED_OF = {
  still_blocked: Type.Optional(
    Type.Array(Type.Object({ target: Type.String(), how: Type.Enum(['allow', 'unblock']), ...ROW }), {
      description:
        'Of the first 10 targets with action allow, in previews also with unblock: the block feeds that have addresses of them all the same.',
    }),
  ),
  still_blocked_unknown: Type.Optional(Type.Integer({ description: 'Such targets of which that was not found out.' })),
};

const StillBlocked = Type.Object(STILL_BLOCKED);
/** The fields of an answer; none where nothing was asked never to be blocked. */
export type StillBlockedFields = Static<typeof StillBlocked>;

/** How long it may take to find that out, ms. */
const LIMIT = 5_000;

interface Ports {
  readonly store: Pick<StoreReads, 'workspace' | 'findNamed' | 'directory'>;
  readonly explainer: FeedExplainer | undefined;
  readonly workspaceId: string;
}

/** The block feeds that have a target although a list never blocks it, or does not block it any more. Never rejects: what cannot be found out is told as that. */
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
    const kept = await within(explainer.remainingBlocks({ workspace, target, listId, how }), LIMIT, 'the look at the block feeds');
    const names = new Map(lists.map(({ id, name }) => [id, name]));
    return stillBlockedJson(kept, { workspace: workspace.name, target: formatTarget(target), names });
  } catch (error) {
    return unknown(codeOf(error) === undefined ? 'it could not be found out' : (error as Error).message);
  }
}

/** Targets of one request that are asked about at most. */
const MOST_ASKED = 10;
const StillBlockedOf = Type.Object(STILL_BLOCKED_OF);
export type StillBlockedOfFields = Static<typeof StillBlockedOf>;

/** The same of several targets (as `formatTarget` writes them), within the time of one; nothing where there are none. */
export async function stillBlockedOf(
  ports: Ports & { readonly now: () => number },
  lifts: readonly Unblock[],
  list: string | undefined,
): Promise<StillBlockedOfFields> {
  if (lifts.length === 0) return {};
  const until = ports.now() + LIMIT;
  const rows: NonNullable<StillBlockedOfFields['still_blocked']> = [];
  let unknown = Math.max(0, lifts.length - MOST_ASKED);
  for (const { target, how } of lifts.slice(0, MOST_ASKED)) {
    const found = ports.now() > until ? undefined : (await stillBlocked(ports, target, list, how)).still_blocked;
    if (found === undefined || found === null) unknown += 1;
    else rows.push(...found.map((row) => ({ target, how, ...row })));
  }
  return { still_blocked: rows, ...(unknown > 0 && { still_blocked_unknown: unknown }) };
}

interface Said {
  readonly workspace: string;
  readonly target: string;
  readonly names: ReadonlyMap<string, string>;
}

const stillBlockedJson = ({ feeds, leftOut }: RemainingBlocks, said: Said): StillBlockedFields => ({
  still_blocked: feeds.map(({ wayOut, by, ...feed }) => ({
    ...feed,
    by: by.map((rule) => ({ target: rule.target, list: listNames([rule.listId], said)[0]! })),
    way_out: wayOut?.do === 'unblock' ? { do: wayOut.do, lists: listNames(wayOut.listIds, said) } : wayOut,
    step: stepOf({ ...feed, wayOut }, said),
  })),
  ...(leftOut > 0 && { still_blocked_left_out: leftOut }),
});

const listNames = (ids: readonly string[], { names }: Pick<Said, 'names'>) => ids.map((id) => names.get(id) ?? id);

function stepOf({ kind, name, wayOut }: { readonly kind: FeedKind; readonly name: string; readonly wayOut: WayOut }, said: Said): string {
  if (wayOut?.do === 'subtract_allow') return subtractionCommand(kind, name, said.workspace, wayOut.value);
  if (wayOut?.do === 'unblock') return `an unblock of ${said.target} in ${listNames(wayOut.listIds, said).join(', ')}`;
  return `no single step takes it out: ./weir lookup ${said.target} --workspace ${shellWord(said.workspace)} names the rules`;
}

/** The command that cuts never-block rules out of a feed. */
export function subtractionCommand(kind: FeedKind, name: string, workspace: string, value: string): string {
  if (kind === 'workspace') return `./weir workspace set ${shellWord(workspace)} --subtract-allow ${value}`;
  const group = kind === 'list' ? 'list' : 'feed';
  return `./weir ${group} set ${shellWord(name)} --workspace ${shellWord(workspace)} --subtract-allow ${value}`;
}

/** A text as one word of a shell. */
export const shellWord = (text: string): string => (/^[\w.:@%+,/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
