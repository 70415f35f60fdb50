import { allPages, ask, manage } from './api.js';
import { counted, dateTime } from './format.js';
import { batchAt } from './pages/changes/see.js';
import { targetsOf } from './pages/lookup/targets.js';
import { tabOf } from './pages/rules/tabs.js';
import { PAGES } from './pages.js';
import { link } from './router.js';
import { may } from './session.js';

/** Results in total, and per kind. */
const MOST = 12;
const MOST_OF_KIND = 5;
/** How long names are cached, ms, and how many of each are read. */
const GOOD_FOR = 60_000;
const READ = 500;

/** @type {{ at: number, of: string, entries: Promise<PaletteEntry[]> } | undefined} */
let known;

const lookup = (target) => `${link('/lookup')}?${new URLSearchParams({ target })}`;
const rulesWith = (/** @type {Record<string, string>} */ query, tab = 'access') => `${link('/rules')}/${tab}?${new URLSearchParams(query)}`;

/** @type {readonly { label: string, href: string, permission: string }[]} */
const ACTIONS = [
  { label: 'Block or allow an address', href: `${link('/rules/access')}?do=block`, permission: 'rules:write' },
  { label: 'Unblock an address', href: `${link('/rules/access')}?do=unblock`, permission: 'rules:write' },
  { label: 'Paste report', href: `${link('/rules/access')}?do=report`, permission: 'rules:write' },
  { label: 'Paste list', href: `${link('/rules/access')}?do=paste`, permission: 'rules:write' },
  { label: 'Create list', href: `${link('/feeds')}?do=list`, permission: 'manage' },
  { label: 'Compose feed', href: `${link('/feeds')}?do=composed`, permission: 'manage' },
  { label: 'Add source', href: `${link('/sources')}?do=add`, permission: 'manage' },
  { label: 'New device', href: `${link('/devices')}?do=new`, permission: 'keys:write' },
  { label: 'Create key', href: `${link('/keys')}?do=make`, permission: 'keys:write' },
];

/** @param {Session} session @returns {PaletteEntry[]} */
const fixed = (session) => [
  ...PAGES.filter(({ permission }) => may(session, permission)).map(({ path, title }) => ({
    kind: 'Page',
    label: title,
    href: link(path),
  })),
  ...ACTIONS.filter(({ permission }) => may(session, permission)).map(({ label, href }) => ({ kind: 'Action', label, href })),
];

/** @param {Session} session @returns {Promise<PaletteEntry[]>} */
function named(session) {
  const of = `${session.workspace_id} ${session.actor}`;
  if (known === undefined || known.of !== of || Date.now() - known.at > GOOD_FOR)
    known = { at: Date.now(), of, entries: readNamed(session) };
  return known.entries;
}

/** @param {Session} session @returns {Promise<PaletteEntry[]>} */
async function readNamed(session) {
  // A failed read only leaves out its results.
  const pages = (path, name) => allPages(path, name, {}, READ).catch(() => []);
  const [lists, feeds, sources, keys, devices, batches] = await Promise.all([
    pages('/lists', 'lists'),
    pages('/feeds', 'feeds'),
    pages('/sources', 'sources'),
    may(session, 'keys:write') ? pages('/keys', 'keys') : [],
    pages('/devices', 'devices'),
    ask(manage('/batches', { limit: 100 })).then(
      ({ body }) => body.batches,
      () => [],
    ),
  ]);
  return [
    ...lists.map(({ id, name }) => ({ kind: 'List', label: name, href: link('/feeds', 'list', id) })),
    ...feeds.map(({ id, name }) => ({ kind: 'Feed', label: name, href: link('/feeds', 'composed', id) })),
    ...sources.map(({ id, name }) => ({ kind: 'Source', label: name, href: link('/sources', id) })),
    ...keys.map(({ name, prefix }) => ({ kind: 'Key', label: name ?? prefix, href: link('/keys') })),
    ...devices.map(({ id, key_name: name, address, user_agent: agent }) => ({
      kind: 'Device',
      label: name ?? address,
      note: `${address} ${agent}`,
      href: `${link('/devices')}?${new URLSearchParams({ id })}`,
    })),
    ...batches.map(({ id, what, actor, received_at: at, entries }) => ({
      kind: 'Batch',
      label: `${dateTime(at)}${actor ? `, ${actor}` : ''}`,
      note: `${what === 'sent' || what === 'refreshed' || what === null ? counted(entries, 'entry', 'entries') : what} ${id}`,
      href: batchAt(id),
    })),
  ];
}

/** Shortest text that the store searches. */
const LEAST = 2;

/** @param {string} text @returns {Promise<PaletteEntry[]>} */
async function inRules(text) {
  if (text.length < LEAST || text.length > 200) return [];
  const { rules, reasons } = await ask(manage('/rules/named', { text })).then(
    ({ body }) => body,
    () => ({ rules: [], reasons: [] }),
  );
  return [
    ...reasons.map(({ kind, reason, rules: many }) => ({
      kind: 'Reason',
      label: reason,
      note: counted(many, 'rule'),
      href: rulesWith({ reason }, tabOf({ kind }).join('/')),
    })),
    ...rules.map((rule) => ({
      kind: 'Rule',
      label: rule.rule_ref,
      note: rule.name ?? rule.target ?? '',
      href:
        rule.target === undefined
          ? rulesWith(rule.batch_id === null ? {} : { batch: rule.batch_id }, tabOf(rule).join('/'))
          : rulesWith({ address: rule.target, match: 'exact' }),
    })),
  ];
}

/** @param {string} text @param {Session} session @returns {Promise<PaletteEntry[]>} */
export async function find(text, session) {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return recent();
  const asked = targetsOf(text).flatMap((each) => ('target' in each ? [each.target] : []));
  const exact = asked.length === 0 ? [] : [{ kind: 'Look up', label: asked.join(', '), href: lookup(asked.join(' ')) }];
  const words = wanted.split(/\s+/);
  const [known, found] = await Promise.all([named(session), inRules(text.trim())]);
  const matching = [
    ...[...fixed(session), ...known].filter(({ kind, label, note = '' }) => {
      const entry = `${kind} ${label} ${note}`.toLowerCase();
      return words.every((word) => entry.includes(word));
    }),
    ...found,
  ];
  const ranked = matching.toSorted((a, b) => rankOf(a, wanted) - rankOf(b, wanted));
  const counts = new Map();
  const few = ranked.filter(({ kind }) => {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return counts.get(kind) <= MOST_OF_KIND;
  });
  const isPage = few.some(
    ({ kind, label }) => (kind === 'Page' || kind === 'Feed' || kind === 'List') && label.toLowerCase().startsWith(wanted),
  );
  const beyond =
    asked.length === 0
      ? [{ kind: 'Rules', label: `with “${text.trim()}” in the reason`, href: rulesWith({ reason_contains: text.trim() }) }]
      : [];
  // Two letters may be a country code or the beginning of a name.
  return (isPage ? [...few, ...exact, ...beyond] : [...exact, ...few, ...beyond]).slice(0, MOST);
}

/** @param {PaletteEntry} entry @param {string} wanted */
const rankOf = ({ label }, wanted) => (label.toLowerCase() === wanted ? 0 : label.toLowerCase().startsWith(wanted) ? 1 : 2);

const RECENT = 'weir-recent';
const MOST_RECENT = 8;

/** @returns {PaletteEntry[]} */
function recent() {
  try {
    return JSON.parse(sessionStorage.getItem(RECENT) ?? '[]');
  } catch {
    return [];
  }
}

/** @param {PaletteEntry} entry */
export function remember(entry) {
  const others = recent().filter(({ href }) => href !== entry.href);
  sessionStorage.setItem(RECENT, JSON.stringify([entry, ...others].slice(0, MOST_RECENT)));
}

/** A result for a text of addresses only, which needs no request. @param {string} text @returns {PaletteEntry | undefined} */
export function addressesIn(text) {
  const asked = targetsOf(text);
  const targets = asked.flatMap((each) => ('target' in each && /\d/.test(each.target) ? [each.target] : []));
  if (targets.length === 0 || targets.length < asked.length) return undefined;
  return { kind: 'Look up', label: targets.join(', '), href: lookup(targets.join(' ')) };
}

/** @param {string} text */
export const elsewhere = (text) => lookup(text.trim());
