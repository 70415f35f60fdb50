/** For people: why a block lasts longer than sent (SPEC D56.5). */
import { repeatOf } from '../../account/repeat.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import { formatTarget } from '../../signal/target.ts';
import { inWords } from '../../text/duration.ts';

const ORDINALS = ['', 'first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth'];

/** By rule id; blocks that last as long as sent are missing. */
export async function repeatTexts(
  reads: Pick<StoreReads, 'repeats'>,
  workspaceId: string,
  rules: readonly StoredRule[],
): Promise<Map<number, string>> {
  const blocks = rules.flatMap((stored) =>
    'target' in stored.rule && stored.rule.action === 'block' && stored.rule.expiresAt !== null && stored.listId !== null
      ? [
          {
            id: stored.id,
            listId: stored.listId,
            target: formatTarget(stored.rule.target),
            lasts: wholeSeconds(stored.rule.expiresAt - stored.updatedAt),
          },
        ]
      : [],
  );
  const found = blocks.length === 0 ? [] : await reads.repeats(workspaceId, blocks);
  const states = new Map(found.map((state) => [`${state.listId} ${state.target}`, state]));
  return new Map(
    blocks.flatMap(({ id, listId, target, lasts }) => {
      const state = states.get(`${listId} ${target}`);
      const { within } = (state && repeatOf(state.repeat)) ?? {};
      if (state === undefined || within === undefined || lasts <= wholeSeconds(state.sent)) return [];
      const which = ORDINALS[state.blocks] ?? `${state.blocks}th`;
      return [
        [id, `${which} block, each within ${inWords(within)}: ${inWords(lasts)} instead of ${inWords(wholeSeconds(state.sent))}`] as const,
      ];
    }),
  );
}

/** Expiries are rounded up to a second, acceptance is not. */
const wholeSeconds = (ms: number) => Math.floor(ms / 1000) * 1000;
