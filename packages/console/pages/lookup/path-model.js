/** The path of a target: four columns of nodes and their edges. Pure functions. */
import { counted } from '../../format.js';
import { senderName } from '../../names.js';
import { link } from '../../router.js';
import { refusedText } from '../clients/refused.js';
import { linkToFeed } from '../feeds/read-feeds.js';
import { arranged } from './arranged.js';

/** Nodes per column; the rest is one node. */
const MOST = 7;
/** Devices in one state that are drawn one by one. */
const ALONE = 2;
const KINDS = { workspace: 'whole workspace', list: 'list', composed: 'composed feed' };
const LETS_THROUGH = {
  has: ['allows it', 'allow it'],
  behind: ['update not confirmed yet', 'update not confirmed yet'],
};
const STATES = {
  has: ['enforces it', 'enforce it'],
  behind: ['update not confirmed yet', 'update not confirmed yet'],
  unknown: ['unknown', 'unknown'],
};

/** Relations of rules that contain the whole target. */
const AROUND = new Set(['covering', 'country', 'asn']);

/** Rules that Extend changes: exact ones, else those that contain the target. Rules of sources are excluded. @param {LookupAnswer} answer */
export function extended({ feeds }) {
  const found = feeds.flatMap(({ rules }) =>
    rules.filter(({ action, effect, source }) => action === 'block' && effect === 'in' && source === null),
  );
  const rules = [...new Map(found.map((rule) => [rule.id, rule])).values()];
  const exact = rules.filter(({ relation }) => relation === 'exact');
  return exact.length > 0 ? exact : rules.filter(({ relation }) => AROUND.has(relation));
}

/** @param {PathFeed} feed @param {Outlook | undefined} outlook @returns {Verdict} */
export function verdictThen(feed, outlook) {
  if (outlook === 'unblock') return feed.unblock.verdict;
  return outlook === 'never' && feed.never_block ? feed.never_block.verdict : feed.verdict;
}

/** Feeds with a rule on the target now or recently; those that contain it first. @param {LookupAnswer} answer */
export function concernedFeeds({ feeds }) {
  const rank = { in: 0, partly: 1, out: 2 };
  return feeds
    .filter(
      ({ rules, protected_by: guards, verdict, pulled_by: by }) =>
        rules.length + guards.length > 0 || verdict !== 'out' || by !== undefined,
    )
    .toSorted((a, b) => rank[a.verdict] - rank[b.verdict]);
}

/** @param {LookupAnswer} answer @param {Outlook | undefined} outlook @returns {PathModel} */
export function modelOf(answer, outlook) {
  const feeds = concernedFeeds(answer);
  /** Each rule once, with its strongest effect. @type {Map<number, ExplainedRule>} */
  const known = new Map();
  for (const rule of feeds.flatMap((feed) => feed.rules)) if ((known.get(rule.id)?.effect ?? 'none') === 'none') known.set(rule.id, rule);
  const rules = [...known.values()];
  const removed = new Set(outlook === 'unblock' ? feeds.flatMap(({ unblock }) => unblock.removes) : []);
  const [first, more] = cut(rules);
  const [near, far] = cut(feeds);
  /** @type {Map<string, PathStep>} */
  const who = new Map();
  /** @type {Edge[]} */
  const edges = [];
  const alone = new Set(first.map(({ id }) => id));
  const idOfRule = (/** @type {ExplainedRule} */ rule) => (alone.has(rule.id) ? `rule ${rule.id}` : 'rule more');

  for (const rule of first) {
    const node = senderOf(rule);
    const isRemoved = removed.has(rule.id);
    const before = who.get(node.id);
    who.set(node.id, { ...node, goes: (before?.goes ?? true) && isRemoved, tone: before?.tone === 'block' ? 'block' : node.tone });
    edges.push({ from: node.id, to: `rule ${rule.id}`, tone: toneOf(rule), goes: isRemoved });
  }
  const ruleNodes = first.map((rule) => ruleNode(rule, removed.has(rule.id)));
  const untold = feeds.some(({ rules_left_out: leftOut }) => leftOut > 0);
  if (more.length > 0 || untold) {
    const title = `${more.length > 0 ? `${counted(more.length, 'more rule')}${untold ? ', and others' : ''}` : 'Other rules'}`;
    ruleNodes.push({ id: 'rule more', title, note: '', href: '#feeds', tone: '' });
  }
  if (outlook === 'never') {
    const node = {
      title: answer.target,
      note: 'never block, in the default list',
      href: link('/rules/access'),
      tone: /** @type {Tone} */ ('free'),
    };
    ruleNodes.push({ id: 'rule new', ...node, isNew: true });
  }

  /** @type {Map<string, PathStep>} */
  const boxes = new Map();
  for (const feed of near) {
    const id = idOf(feed);
    const then = verdictThen(feed, outlook);
    const goes = feed.verdict !== 'out' && then === 'out';
    for (const rule of feed.rules) {
      if (rule.effect === 'none') continue;
      const tone = rule.effect === 'in' ? toneOfFeed(feed, answer.action) : 'free';
      edges.push({ from: idOfRule(rule), to: id, tone, goes: goes || removed.has(rule.id) });
    }
    if (outlook === 'never' && then !== feed.verdict) edges.push({ from: 'rule new', to: id, tone: 'free', goes: false });
    for (const box of boxesOf(feed, answer.action)) {
      const before = boxes.get(box.id);
      boxes.set(box.id, before === undefined ? { ...box, goes } : together(before, { ...box, goes }));
      edges.push({ from: id, to: box.id, tone: box.tone, goes });
    }
  }
  const feedNodes = near.map((feed) => feedNode(feed, answer.action, outlook));
  if (far.length > 0) feedNodes.push({ id: 'feed more', title: counted(far.length, 'more feed'), note: '', href: '#feeds', tone: '' });
  return arranged({
    columns: [
      { title: 'Who', nodes: [...who.values()] },
      { title: 'Rules', nodes: ruleNodes },
      { title: 'Feeds', nodes: feedNodes },
      { title: 'Devices', nodes: [...boxes.values()], none: noDevices(near) },
    ],
    edges: [...new Map(edges.map((edge) => [`${edge.from} ${edge.to}`, edge])).values()],
  });
}

/** A device that fetches several feeds: it enforces what one of them blocks. @param {PathStep} one @param {PathStep} other @returns {PathStep} */
function together(one, other) {
  const [first, second] = RANKS.indexOf(one.tone) <= RANKS.indexOf(other.tone) ? [one, other] : [other, one];
  return {
    ...first,
    goes: one.goes && other.goes,
    note: first.note === second.note ? first.note : `${first.note}; from another feed: ${second.note}`,
  };
}
/** @type {readonly Tone[]} */
const RANKS = ['block', 'part', 'late', 'free', ''];

/** @param {PathFeed[]} feeds */
const noDevices = (feeds) =>
  feeds.some(({ pulled_by: by }) => by !== undefined) ? 'No device fetches these feeds yet' : 'Nothing to enforce';

/** @template T @param {T[]} items @returns {[T[], T[]]} */
const cut = (items) => (items.length <= MOST ? [items, []] : [items.slice(0, MOST - 1), items.slice(MOST - 1)]);

const idOf = (/** @type {PathFeed} */ { id }) => `feed ${id ?? 'workspace'}`;

/** @param {ExplainedRule} rule @returns {Tone} */
const toneOf = ({ action, effect }) => (action === 'allow' ? 'free' : effect === 'in' ? 'block' : '');

/** @param {Verdict} verdict @param {string} action @returns {Tone} */
const toneOfVerdict = (verdict, action) => (verdict === 'out' ? '' : action === 'allow' ? 'free' : verdict === 'in' ? 'block' : 'part');

/** A feed over its limit is not published, so it blocks nothing. @param {PathFeed} feed @param {string} action @returns {Tone} */
const toneOfFeed = ({ verdict, over_cap: isOver }, action) => (isOver && verdict !== 'out' ? 'late' : toneOfVerdict(verdict, action));

/** @param {ExplainedRule} rule @returns {PathStep} */
function senderOf(rule) {
  const { actor, key_name: key, source, batch_id: batch, reason, updated_at: at, action } = rule;
  const title = source?.name ?? senderName(rule);
  const notes = [source ? 'source' : actor && key ? `key ${key}` : '', reason ?? ''].filter(Boolean);
  const href = batch === null ? link('/batches') : link('/batches', batch);
  return {
    id: `who ${title} ${batch} ${reason ?? ''}`,
    title,
    note: notes.join(' · '),
    href,
    tone: action === 'allow' ? 'free' : 'block',
    at,
  };
}

/** @param {ExplainedRule} rule @param {boolean} goes @returns {PathStep} */
function ruleNode(rule, goes) {
  const { id, target = '', list_name: list, list_id: listId, action, effect, expires_at: expires } = rule;
  const href = `${link('/rules/access')}?${new URLSearchParams({ address: target, match: 'exact', list: listId ?? '' })}`;
  const note = `${action === 'allow' ? 'never block, ' : ''}${list}${effect === 'none' ? ', no effect' : ''}`;
  return { id: `rule ${id}`, title: target, note, href, tone: toneOf(rule), goes, expires: expires ?? 'never' };
}

/** @param {PathFeed} feed @param {string} action @param {Outlook | undefined} outlook @returns {PathStep} */
function feedNode(feed, action, outlook) {
  const then = verdictThen(feed, outlook);
  const goes = feed.verdict !== 'out' && then === 'out';
  const does = action === 'block' ? 'blocks it' : 'allows it';
  const words = { in: does, partly: 'has a part of it', out: 'does not contain it' };
  const stays = outlook !== undefined && outlook !== 'extend' && then === 'in';
  const unpublished = feed.over_cap && then !== 'out' ? 'not published, over its limit' : undefined;
  const state = unpublished ?? (goes ? 'would allow it' : stays ? `still ${does}` : words[then]);
  const guarded = feed.protected_by.length > 0 ? `, protected by ${feed.protected_by[0]}` : '';
  return {
    id: idOf(feed),
    title: feed.name,
    note: `${KINDS[feed.kind]} · ${state}${guarded}`,
    href: linkToFeed({ kind: feed.kind, id: feed.id ?? '' }),
    tone: toneOfFeed(feed, action),
    goes,
  };
}

/** @param {PathFeed} feed @param {string} action @returns {PathStep[]} */
function boxesOf(feed, action) {
  const { pulled_by: by } = feed;
  if (by === undefined || by.total === 0) return [];
  const states = /** @type {const} */ (['has', 'behind', 'unknown']);
  return states.flatMap((state) => {
    const number = by[state];
    const clients = by.told.filter((each) => each.state === state);
    const tone = state === 'has' ? toneOfVerdict(feed.verdict, action) : 'late';
    const isOut = feed.verdict === 'out';
    const [does, doTogether] = isOut && state !== 'unknown' ? LETS_THROUGH[state] : STATES[state];
    if (number === 0) return [];
    if (number <= ALONE && clients.length === number) {
      return clients.map((each) => ({
        id: `box ${each.kind} ${each.id ?? `${each.key_name} ${each.address}`} ${each.user_agent}`,
        title: each.key_name ?? each.address,
        note: [
          does,
          each.refused !== null && refusedText(each.refused),
          each.stopped_at !== null && 'stopped',
          each.verified_at !== null && 'verified in its firewall',
          programOf(each),
        ]
          .filter(Boolean)
          .join(' · '),
        href:
          each.kind === 'bouncer'
            ? link('/bouncers')
            : `${link('/devices')}${each.id === null ? '' : `?${new URLSearchParams({ id: each.id })}`}`,
        tone,
        at: each.content_at ?? each.last_pull,
      }));
    }
    return [
      {
        id: `box ${idOf(feed)} ${state}`,
        title: counted(number, 'device'),
        note: number === 1 ? does : doTogether,
        href: link('/devices'),
        tone,
      },
    ];
  });
}

/** @param {Puller} puller */
const programOf = ({ kind, user_agent: agent }) => `${kind === 'bouncer' ? 'bouncer ' : ''}${agent.split(/[ (]/)[0]}`;

/** @param {LookupAnswer} answer @param {Outlook} outlook */
export function staying(answer, outlook) {
  return concernedFeeds(answer)
    .filter((feed) => feed.verdict !== 'out' && verdictThen(feed, outlook) !== 'out')
    .map((feed) => ({
      feed,
      because: feed.rules.filter(({ effect, id }) => effect === 'in' && !(outlook === 'unblock' && feed.unblock.removes.includes(id))),
      subtract: outlook === 'never' ? (feed.never_block?.subtract ?? null) : null,
    }));
}
