/** Which rules a command means: the options that `weir rule ls` and `weir rule delete` share (SPEC D9.6, D10.6). */
import type { Command } from 'commander';
import { isoTime } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import { knownBatch } from '../../manage/batches.ts';
import { findKeyNamed, findList } from '../../manage/find.ts';
import { meeting, type RuleConditions } from '../../manage/rules/rule-search.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { RuleMatch, RulePosition } from '../../ports/stored/rule-queries.ts';
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import { KINDS, type Kind } from '../../rule.ts';
import { readInChunks } from '../../schedule/chunks.ts';
import { readSince } from '../../text/duration.ts';
import { inWorkspace, oneOf, targetOf } from '../usage.ts';

const MATCHES = ['exact', 'covering', 'covered'] as const;

/** What the options say; what is not given holds for every rule. */
export interface ConditionOptions {
  readonly kind: Kind;
  readonly list?: string;
  readonly address?: string;
  readonly match: (typeof MATCHES)[number];
  readonly label?: readonly [string, string][];
  readonly reason?: string;
  /** ms */
  readonly since?: number;
  readonly key?: string;
  readonly batch?: string;
  readonly person?: string;
}

export const conditionOptions = (c: Command): Command =>
  inWorkspace(c)
    .option('--kind <kind>', KINDS.join(', '), oneOf('--kind', KINDS), 'access_rule')
    .option('--list <list>', 'rules of this list')
    .option('--address <target>', 'rules on this address, network, ASN or country')
    .option('--match <how>', 'exact; covering: networks around it; covered: networks inside it', oneOf('--match', MATCHES), 'exact')
    .option('--label <key=value>', 'rules with this label; repeatable', collectLabel)
    .option('--reason <text>', 'rules with exactly this reason')
    .option('--since <time>', 'rules made or changed since: an instant such as 2026-11-22T08:00:00Z, or how long ago, such as 2h', sinceOf)
    .option('--key <key>', 'rules that were written last by this key, by its id or name')
    .option('--batch <id>', 'rules that were written last by this batch')
    .option('--person <name>', 'rules that were written last by this person: a name, or PROVIDER:SUBJECT');

/** Whether the options leave any rule of the kind out. */
export const isNarrowed = (given: ConditionOptions): boolean =>
  Object.values({ ...asked(given), kind: undefined }).some((each) => each !== undefined);

/** The rules that the options mean. Rejects where a list, key or batch is not known, for then no rule would be found, whatever there is. */
export async function readConditions(store: StoreReads, workspace: string, given: ConditionOptions): Promise<RuleConditions> {
  const { kind, list, address, match, label = [], reason, since, key, batch, person } = given;
  if (address !== undefined && kind !== 'access_rule') throw new WeirError('USAGE', '--address finds access rules only');
  return {
    ...{ kind, labels: label, reason, since, person },
    listId: list === undefined ? undefined : (await findList(store, workspace, list)).id,
    match: address === undefined ? undefined : matchOf(address, match),
    key: key === undefined ? undefined : (await findKeyNamed(store, workspace, key)).id,
    batch: batch === undefined ? undefined : (await knownBatch(store, workspace, batch.toLowerCase())).id,
  };
}

function matchOf(address: string, how: (typeof MATCHES)[number]): RuleMatch {
  const target = targetOf(address);
  if (how === 'exact') return { how, target };
  if (target.kind !== 'ip') throw new WeirError('USAGE', `--match ${how} takes an address or a network, not "${address}"`);
  return { how, network: target.network };
}

/** The conditions as they were given, for the audit log. */
export const asked = ({ kind, list, address, match, label = [], reason, since, key, batch, person }: ConditionOptions) => ({
  ...{ kind, list, address, match: address === undefined ? undefined : match },
  labels: label.length > 0 ? Object.fromEntries(label) : undefined,
  ...{ reason, since: since === undefined ? undefined : isoTime(since), key, batch, person },
});

/** Rules that are judged at a time. */
const PAGE = 1000;

/** The active rules that meet conditions, in their order. What was read before a failure comes before it. */
export async function* matchingRules(
  store: StoreReads,
  workspace: string,
  conditions: RuleConditions,
  after?: RulePosition,
): AsyncGenerator<StoredRule> {
  const { kind, listId, match } = conditions;
  const rules = store.rules(workspace, { kind, listId, match, after, now: Date.now() });
  for await (const page of readInChunks(rules, PAGE)) yield* await meeting(store, workspace, conditions, page);
}

function collectLabel(text: string, before: [string, string][] = []): [string, string][] {
  const at = text.indexOf('=');
  if (at < 1) throw new WeirError('USAGE', `--label must be key=value, not "${text}"`);
  return [...before, [text.slice(0, at), text.slice(at + 1)]];
}

export const SINCE_RULE = 'an instant such as 2026-11-22T08:00:00Z, or how long ago, such as 2h';

/** The instant of `--since`, ms. */
export const sinceOf = (text: string): number => {
  const at = readSince(text, Date.now());
  if (at === undefined) throw new WeirError('USAGE', `--since must be ${SINCE_RULE}`);
  return at;
};
