/** `weir lookup` (SPEC D10). */
import type { Command } from 'commander';
import type { Workspace } from '../../account/workspace.ts';
import { instantOf } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import { explain } from '../../feed/whatif/explain/explain.ts';
import type { FeedSource, Idle, Relation } from '../../feed/whatif/explain/explanation.ts';
import { locate } from '../../geo/locate.ts';
import { findFeed, findList } from '../../manage/find.ts';
import { droppedOf, type ListDropped } from '../../manage/hits.ts';
import { explanationJson, type FeedJson, type RuleJson } from '../../manage/lookup/explanation.ts';
import type { PastLookUp } from '../../manage/lookup/past.ts';
import { type Pulled, pathOf, whereJson } from '../../manage/lookup/path.ts';
import { frozenSince } from '../../manage/operations/freezes.ts';
import { subtractionCommand } from '../../manage/remaining-blocks.ts';
import { repeatTexts } from '../../manage/rules/repeats.ts';
import { namesIn, type RuleSource } from '../../manage/rules/rule-json.ts';
import type { StoreReads } from '../../ports/store.ts';
import { ACCESS_ACTIONS, type AccessAction, type Target } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';
import { countText } from '../../text/count.ts';
import { without } from '../account/settings.ts';
import { localArchive } from '../client/archive.ts';
import type { Fields } from '../client/client.ts';
import { openClient } from '../client/open.ts';
import type { AddCommand } from '../command.ts';
import { type Context, printable, workspaceIn } from '../context.ts';
import { servedParts } from '../feed-parts.ts';
import { inWorkspace, oneOf, targetOf } from '../usage.ts';
import { indented, pulledLines } from './lookup-clients.ts';
import { SINCE_RULE, sinceOf } from './selection.ts';

const lookupOptions = (c: Command): Command =>
  inWorkspace(c)
    .option('--feed <feed>', 'only this feed made of lists')
    .option('--list <list>', 'only the feed of this list')
    .option('--action <action>', 'block feeds or allow feeds', oneOf('--action', ACCESS_ACTIONS), 'block')
    .option('--at <time>', `an address or network then, from the archive: ${SINCE_RULE}`)
    .option('--no-entries', 'do not count entries, which reads every rule of the feeds');

export function lookupCommand(add: AddCommand): void {
  add('lookup <target>', 'which feeds have an address, network, ASN or country, and why', lookupOptions, {
    isOperation: true,
    async run(context, [text], { workspace: name, feed, list, action, entries: counts, at }): Promise<Explanation> {
      const target = targetOf(text!);
      if (feed !== undefined && list !== undefined) throw new WeirError('USAGE', 'give --feed or --list, not both');
      if (context.url !== undefined) return explainAtService(context, { target: text!, action, feed: feed ?? list, at }, name);
      const store = await context.reads();
      const workspace = await workspaceIn(context, store, name);
      if (at !== undefined)
        return explainPast(context, workspace, { target, action, feed: feed ?? list, at: Date.parse(sinceOf(at, '--at')) });
      const { geo, geoData, guard, clock } = await servedParts(context);
      const feedIds = await feedsAsked(store, workspace.id, { feed, list });
      const explained = await explain({ workspace, target, action, feedIds, counts }, { store, geo, guard, now: instantOf(clock) });
      const names = await namesIn(store, workspace.id);
      const places = { store, workspaceId: workspace.id, locate: (of: Target) => locate(geoData, of) };
      const path = await pathOf({ ...places, now: clock.now, step: (work) => work() }, { target, action }, explained, names);
      const frozen = await frozenSince(store, workspace.id);
      const stored = explained.feeds.flatMap(({ explanation }) => explanation.rules.map((each) => each.stored));
      const repeats = await repeatTexts(store, workspace.id, stored);
      const feeds = explanationJson(explained, names, repeats).map(
        (each, i): ShownFeed => ({ ...each, frozen_since: frozen.get(each.id) ?? null, pulled_by: path.feeds.get(i)?.pulled_by }),
      );
      const dropped = await droppedOf(store, workspace.id, explained, names, clock.now());
      const where = whereJson(places.locate(target));
      return { target: formatTarget(target), where, workspace_id: workspace.id, workspace: workspace.name, action, feeds, dropped };
    },
    show: explanationText,
  });
}

/** The service returns up to 20 rules per feed, and the sizes of feeds that it has built. */
async function explainAtService(context: Context, given: Fields, named: string | undefined): Promise<Explanation> {
  const client = await openClient(context, { workspace: named, writes: false, anywhere: undefined });
  const { workspace } = await client.call<{ workspace: { id: string; name: string } }>('whoAmI');
  const path = given.at === undefined ? { path: true } : {};
  const { target, where = null, action, feeds, dropped, at, geo } = await client.call<Explanation>('lookUp', { ...given, ...path });
  const shown = feeds.map((feed) => without(feed, 'settled_at', 'never_block', 'rules_left_out'));
  return { target, where, workspace_id: workspace.id, workspace: workspace.name, action, feeds: shown, dropped, at, geo };
}

async function explainPast(context: Context, { id, name }: Workspace, asked: Omit<PastLookUp, 'workspaceId'>): Promise<Explanation> {
  const past = localArchive(context, await context.reads());
  if (past === undefined) throw new WeirError('REFUSED', 'there is no archive of earlier rules: ARCHIVE_DIR is not set');
  const { feeds, feeds_left_out: _, ...answer } = await past.lookUp({ ...asked, workspaceId: id });
  return { ...answer, where: null, workspace_id: id, workspace: name, feeds: feeds.map((feed) => ({ ...feed, pulled_by: undefined })) };
}

/** undefined: all feeds. */
async function feedsAsked(
  store: StoreReads,
  workspace: string,
  { feed, list }: { readonly feed?: string; readonly list?: string },
): Promise<string[] | undefined> {
  if (feed !== undefined) return [(await findFeed(store, workspace, feed)).id];
  return list === undefined ? undefined : [(await findList(store, workspace, list)).id];
}

interface ShownFeed extends FeedJson {
  readonly pulled_by: Pulled | undefined;
  /** undefined: an older service. */
  readonly frozen_since?: string | null;
}

interface Explanation {
  readonly target: string;
  readonly where: ReturnType<typeof whereJson>;
  readonly workspace_id: string;
  readonly workspace: string;
  readonly action: AccessAction;
  readonly feeds: readonly ShownFeed[];
  readonly dropped: readonly ListDropped[];
  /** An earlier time, and the versions of the geo data then. */
  readonly at?: string | undefined;
  readonly geo?: { readonly country: string; readonly asn: string } | undefined;
}

/** Printed rules per feed. */
const SHOWN = 20;

function explanationText({ target, where, workspace, action, feeds, dropped, at, geo }: Explanation): string {
  // Protected networks appear only with a rule.
  const [concerned, others] = [feeds.filter(({ rules }) => rules.length > 0), feeds.filter(({ rules }) => rules.length === 0)];
  const sections = concerned.map((feed) =>
    [
      feedLine(feed),
      ...indented(whyLines(feed)),
      ...(at === undefined
        ? indented([...unblockLines(feed, target, action), ...subtractionLines(feed, workspace), ...pulledLines(feed.pulled_by)])
        : []),
    ].join('\n'),
  );
  const none =
    others.length === 0 ? [] : [`no rule concerns it in: ${others.map((feed) => `${nameOf(feed)}${familyNote(feed)}`).join(', ')}`];
  const then = at === undefined ? '' : ` at ${at}, with the geo data ${geo!.country} and ${geo!.asn}`;
  return [`${target}${whereText(target, where)} in the ${action} feeds${then}`, ...sections, ...none, ...droppedLines(dropped)].join(
    '\n\n',
  );
}

/** ` (DE, AS64500 Example)`. */
function whereText(target: string, where: Explanation['where']): string {
  const { country = null, asn = null, asn_name: name = null } = where ?? {};
  const asnText = asn === null ? null : [`AS${asn}`, name].filter((part) => part !== null && part !== target).join(' ');
  const parts = [country, asnText].filter((part) => part !== null && part !== '');
  return parts.length === 0 ? '' : ` (${printable(parts.join(', '))})`;
}

/** Empty if no bouncer counts. */
function droppedLines(dropped: Explanation['dropped']): string[] {
  if (dropped.length === 0) return [];
  const named = dropped.map(
    ({ list, hits, last_hit: last }) => `${printable(list)} ${countText(hits)}${last === null ? '' : ` (the last on ${last})`}`,
  );
  return [`dropped for these lists in 30 days, as reported by bouncers: ${named.join(', ')}`];
}

const familyNote = ({ family }: FeedJson) => (family === 'both' ? '' : ` (${family} only)`);
const nameOf = ({ kind, name }: FeedJson) => `${KINDS[kind]} ${printable(name)}`;
const KINDS: Readonly<Record<FeedSource['kind'], string>> = { workspace: 'workspace', list: 'list', composed: 'feed' };

function feedLine(feed: ShownFeed): string {
  const { verdict, frozen_since: frozen, entries, max_entries: most, over_cap: isOver } = feed;
  const size = entries === null ? '' : `, ${entries} of ${most} entries`;
  const note = isOver ? `, but not published: over its cap with ${entries} of ${most} entries, polls are answered 413` : size;
  const freeze = frozen == null ? '' : `; frozen since ${frozen}: it serves the rules of that time`;
  return `${nameOf(feed)}${familyNote(feed)}: ${verdict}${note}${freeze}`;
}

function agreementLines({ agreement }: FeedJson): string[] {
  if (agreement === null) return [];
  const { min_sources: least, found, lists } = agreement;
  const named = lists.map(({ name, always, copies }) => {
    const note = always ? 'is enough alone' : copies.length > 0 ? `copies ${copies.join(', ')}` : '';
    return note === '' ? name : `${name} (${note})`;
  });
  return [printable(`${found} of ${least} lists that must agree: ${named.join(', ')}`)];
}

const rankLines = ({ rank }: FeedJson): string[] =>
  rank === null ? [] : [`left out: the feed is full (rank ${countText(rank.rank)} of ${countText(rank.limit)})`];

function whyLines(feed: FeedJson): string[] {
  const { rules, protected_by } = feed;
  const more = rules.length - SHOWN;
  return [
    ...rankLines(feed),
    ...agreementLines(feed),
    ...rules.slice(0, SHOWN).map((rule) => `${rule.idle === null ? rule.effect : IDLE[rule.idle]}: ${ruleText(rule)}`),
    ...(more > 0 ? [`and ${more} more rules (--json prints all)`] : []),
    ...protected_by.map((network) => `out: protected network ${network}`),
  ];
}

const RELATIONS: Readonly<Record<Relation, string>> = {
  exact: '',
  covering: 'inside ',
  covered: 'part of it, ',
  country: 'in country ',
  asn: 'in ',
  overlapping: 'part of it, ',
};
const IDLE: Readonly<Record<Idle, string>> = {
  not_cut_out: 'not cut out',
  no_ranges: 'without addresses in the geo data',
  other_family: 'of the other family',
  too_few_lists: 'too few lists',
  left_out: 'left out to keep within the cap',
  not_known: 'not known whether the address was in',
};
const ruleName = ({ effect, idle, relation, target, served_as: served }: RuleJson) =>
  served !== null
    ? `${RELATIONS[relation]}${relation === 'exact' ? `${target}, served as ${served}` : `${served}, which blocks for ${target}`}`
    : effect === 'out' || idle === 'not_cut_out'
      ? `${RELATIONS[relation]}never-block rule ${target}`
      : `${RELATIONS[relation]}${target}`;

function ruleText(rule: RuleJson): string {
  const { list_name, rule_ref, reason, key_id, key_name, actor, person, batch_id, created_at, expires_at, source } = rule;
  if (source !== null)
    return printable([ruleName(rule), ...(reason === null ? [] : [`"${reason}"`]), ...sourceParts(rule, source)].join(', '));
  const parts = [
    ruleName(rule),
    `list ${list_name}`,
    ...(rule_ref === null ? [] : [`rule_ref ${rule_ref}`]),
    ...(reason === null ? [] : [`"${reason}"`]),
    ...(key_id === null ? [] : [`key ${key_name ?? key_id}`]),
    ...(actor === undefined ? [] : [`by ${actor}${person === undefined ? '' : ` (${person})`}`]),
    ...(batch_id === null ? [] : [`batch ${batch_id}`]),
    `since ${created_at}`,
    expires_at === null ? 'no expiry' : `until ${expires_at}`,
    ...(rule.repeated === undefined ? [] : [rule.repeated]),
    ...rule.not_widened.map((reason) => `served as sent, because its network may not be blocked: ${reason}`),
  ];
  return printable(parts.join(', '));
}

const sourceParts = ({ batch_id }: RuleJson, { name, refresh, since }: RuleSource) => [
  `from source ${name}`,
  `refresh of ${refresh}`,
  ...(batch_id === null ? [] : [`batch ${batch_id}`]),
  `there since ${since}`,
];

/** The effect of removing the rule for exactly this target. */
function unblockLines({ rules, verdict, unblock }: FeedJson, target: string, action: AccessAction): string[] {
  if (verdict === 'out' && unblock.removes.length === 0) return [];
  const deed = action === 'block' ? `an unblock of ${target}` : `deleting the never-block rule on ${target}`;
  const rest = rules.filter((rule) => rule.effect === 'in' && !unblock.removes.includes(rule.id));
  const because = rest.length === 0 ? '' : `: ${reasonText(rest)}`;
  if (unblock.removes.length === 0) return [`${deed} removes nothing${because}${keptNote(rest)}`];
  const removed = rules.filter(({ id }) => unblock.removes.includes(id));
  const lists = [...new Set(removed.map(({ list_name }) => `list ${list_name}`))].join(', ');
  const removes = `${deed} in ${lists} removes ${removed.length === 1 ? 'the rule' : `${removed.length} rules`}`;
  if (verdict === 'out') return [printable(`${removes}; it is not in this feed already`)];
  const then = unblock.verdict === 'out' ? ' and takes it out of this feed' : `, but it stays ${unblock.verdict}${because}`;
  return [printable(`${removes}${then}`)];
}

/** The effect of cutting out never-block rules. */
function subtractionLines({ kind, name, subtract_allow: subtract }: FeedJson, workspace: string): string[] {
  if (subtract === null) return [];
  const then = subtract.verdict === 'out' ? 'takes it out of this feed' : 'takes a part of it out of this feed';
  return [`${printable(subtractionCommand(kind, name, workspace, subtract.value))} ${then}`];
}

const keptNote = (rest: readonly RuleJson[]) =>
  rest.some(({ source, effect }) => source !== null && effect === 'in') ? ', which its source keeps: allow it in another list' : '';

function reasonText(rest: readonly RuleJson[]): string {
  const [first] = rest;
  const more = rest.length === 1 ? '' : ` and ${rest.length - 1} more`;
  return printable(`${ruleName(first)} from list ${first.list_name}${more}`);
}
