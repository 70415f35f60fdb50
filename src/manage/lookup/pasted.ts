/** What existing rules and guard rails say about pasted targets (SPEC D54.2). */
import { addressSet, overlaps } from '@weir/network/address-set.ts';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { PRIVATE_USE } from '@weir/network/special-purpose.ts';
import { isoTime } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import type { AccessRule, Target } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';
import type { ManageContext } from '../context.ts';
import { namesIn } from '../rules/rule-json.ts';
import { targetsAround } from './path.ts';

/** In this order: the first that applies. */
export const PASTED_VERDICTS = ['private', 'protected', 'never_block', 'blocked', 'inside', 'new'] as const;

export interface Pasted {
  readonly target: string;
  readonly verdict: (typeof PASTED_VERDICTS)[number];
  /** The fault of the guard rails. */
  readonly why: string | null;
  readonly rule: PastedRule | null;
}

export interface PastedRule {
  readonly id: number;
  readonly target: string;
  readonly list_id: string | null;
  readonly list_name: string;
  readonly reason: string | null;
  readonly expires_at: string | null;
}

/** Targets per read. */
const READ = 2000;
const RULES = 1000;
/** ms */
const LIMIT = 15_000;

/** Rejects with REFUSED in a workspace with too many lists to read in time. */
export async function judgePasted(context: ManageContext, networks: readonly Network[]): Promise<Pasted[]> {
  const { locate, blockFaults, caller, pause } = context;
  const targets = networks.map((network): Target & { kind: 'ip' } => ({ kind: 'ip', network }));
  const around = targets.map((target) => targetsAround(target, locate(target)));
  await pause();
  const rules = await activeRules(context, [...new Set(around.flat())]);
  const { lists } = await namesIn(context.store, context.workspaceId);
  const [faultsOf, inside] = [blockFaults(caller), addressSet(PRIVATE_USE.map((text) => parseNetwork(text) as Network))];
  return targets.map((target, i) => {
    const text = formatTarget(target);
    const faults = faultsOf(target.network);
    const narrowest = around[i]!.slice(0, target.network.prefix + 1).reverse();
    const concerned = [...narrowest, ...around[i]!.slice(narrowest.length)].flatMap((each) => rules.get(each) ?? []);
    const allow = concerned.find(({ rule }) => rule.action === 'allow');
    const block = concerned.find(({ rule }) => rule.action === 'block');
    const isExact = block !== undefined && formatTarget((block.rule as AccessRule).target) === text;
    const verdict = overlaps(inside, target.network)
      ? 'private'
      : faults.length > 0
        ? 'protected'
        : allow !== undefined
          ? 'never_block'
          : block === undefined
            ? 'new'
            : isExact
              ? 'blocked'
              : 'inside';
    const rule = verdict === 'never_block' ? allow : block;
    return {
      target: text,
      verdict,
      why: faults.length === 0 ? null : faults.join(', and '),
      rule: rule ? pastedRuleJson(rule, lists) : null,
    };
  });
}

/** By canonical target. Rejects with REFUSED in a workspace with too many lists to read in time. */
export async function activeRules(
  { store, workspaceId, now, step }: Pick<ManageContext, 'store' | 'workspaceId' | 'now' | 'step'>,
  targets: readonly string[],
): Promise<ReadonlyMap<string, readonly StoredRule[]>> {
  const [ids, until]: [number[], number] = [[], now() + LIMIT];
  for (const { id } of (await store.directory(workspaceId))?.lists ?? []) {
    for (let at = 0; at < targets.length; at += READ) {
      if (now() > until) throw new WeirError('REFUSED', 'this takes too long in a workspace with so many lists: send fewer addresses');
      const found = await step(() => store.namedRules(workspaceId, id, [], targets.slice(at, at + READ)));
      for (const rule of found) ids.push(rule.id);
    }
  }
  const rules: StoredRule[] = [];
  for (let at = 0; at < ids.length; at += RULES) {
    const read = await step(() => store.rulesById(workspaceId, 'access_rule', ids.slice(at, at + RULES)));
    rules.push(...read.filter(({ rule }) => rule.expiresAt === null || rule.expiresAt > now()));
  }
  return Map.groupBy(rules, ({ rule }) => formatTarget((rule as AccessRule).target));
}

export const pastedRuleJson = ({ id, listId, rule }: StoredRule, lists: ReadonlyMap<string, string>): PastedRule => ({
  id,
  target: formatTarget((rule as AccessRule).target),
  list_id: listId,
  list_name: lists.get(listId ?? '') ?? '',
  reason: rule.reason,
  expires_at: isoTime(rule.expiresAt),
});
