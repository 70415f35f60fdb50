/** Replaces blocks around a network by the fewest blocks without it (SPEC D54.11). */
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { networksAround } from '@weir/network/sets/nesting.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import type { AccessRule } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';

/** The fewest networks of `block` without `network`, widest first. `block` contains it. */
export function remainder(block: Network, network: Network): Network[] {
  return networksAround(network)
    .slice(block.prefix + 1)
    .map((each) => sibling(each));
}

/** The other half of the network around it. */
function sibling({ family, address, prefix }: Network): Network {
  const flip = (word: number, bit: number) => (word ^ (1 << (31 - bit))) >>> 0;
  if (family === 4) return { family, address: flip(address, prefix - 1), prefix };
  const at = (prefix - 1) >> 5;
  const words = Uint32Array.from(address);
  words[at] = flip(words[at]!, (prefix - 1) & 31);
  return { family, address: [words[0]!, words[1]!, words[2]!, words[3]!], prefix };
}

export interface Split {
  readonly rule: StoredRule & { readonly rule: AccessRule };
  /** New rules; without those that the list already has for as long. */
  readonly parts: readonly AccessRule[];
}

export async function splitRules(
  reads: Pick<StoreReads, 'namedRules' | 'rulesById'>,
  workspaceId: string,
  rules: readonly Split['rule'][],
  network: Network,
): Promise<Split[]> {
  const splits: Split[] = [];
  for (const stored of rules) {
    const { rule, listId } = stored;
    const block = parseNetwork(formatTarget(rule.target)) as Network;
    const parts = remainder(block, network).map((each): AccessRule => ({ ...rule, ruleRef: null, target: { kind: 'ip', network: each } }));
    const named = await reads.namedRules(
      workspaceId,
      listId!,
      [],
      parts.map(({ target }) => formatTarget(target)),
    );
    const there = await reads.rulesById(
      workspaceId,
      'access_rule',
      named.map(({ id }) => id),
    );
    const ends = new Map(there.map((each) => [`${each.rule.action} ${formatTarget((each.rule as AccessRule).target)}`, endOf(each.rule)]));
    splits.push({ rule: stored, parts: parts.filter((part) => (ends.get(`block ${formatTarget(part.target)}`) ?? 0) < endOf(part)) });
  }
  return splits;
}

const endOf = ({ expiresAt }: Pick<AccessRule, 'expiresAt'>): number => expiresAt ?? Number.POSITIVE_INFINITY;
