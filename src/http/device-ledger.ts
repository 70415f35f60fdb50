/** A poll from memory costs a few look-ups and numbers (SPEC D16.7). */
import { type DeviceRefusal, documentKey, MOST_DOCUMENTS, type SeenDevice } from '../account/device.ts';
import { FirstSeen } from '../account/first-seen.ts';
import { withoutSecrets } from '../account/secrets/in-text.ts';
import { nameOf } from '../feed/document.ts';
import type { DeviceNotes } from '../ports/devices.ts';
import type { Call } from './call.ts';
import { type HttpFault, isRefusal } from './errors.ts';
import type { AnsweredContent, DocumentAnswer } from './feeds/headers.ts';
import type { Group } from './groups.ts';

export interface Poll {
  readonly userAgent: string | undefined;
  readonly address: string;
  readonly status: number;
  readonly validates: boolean;
  readonly content: AnsweredContent | undefined;
  readonly refused?: RefusedDocument | undefined;
}

type RefusedDocument = Pick<DeviceRefusal, 'feedId' | 'format' | 'family' | 'action'>;

/** `by`: the key, if valid. */
export function pollOf(
  { request, ip: address, params }: Pick<Call, 'request' | 'ip' | 'params'>,
  group: Group | undefined,
  answered: DocumentAnswer | HttpFault,
  by?: HttpFault['by'],
): Poll {
  const { headers, method } = request;
  return {
    userAgent: headers['user-agent'],
    address,
    status: answered.status,
    validates: headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined,
    // HEAD with 200 transfers no content.
    content: 'body' in answered && (answered.status === 304 || method === 'GET') ? answered.content : undefined,
    refused: isRefusal(answered) ? refusedOf(answered as HttpFault, group, params.list ?? by?.listId ?? by?.feedId ?? null) : undefined,
  };
}

function refusedOf({ of }: HttpFault, group: Group | undefined, asked: string | null): RefusedDocument {
  if (of === undefined)
    return { feedId: asked && withoutSecrets(shortened(asked)), format: ASKED[group!] ?? null, family: null, action: null };
  const { format, family, action } = nameOf(of.variant);
  return { feedId: of.feedId, format, family, action };
}

const ASKED: Partial<Record<Group, string>> = { agent: 'config', rules: 'rules', bouncer: 'decisions', manage: 'manage' };

export interface DeviceLedger extends DeviceNotes {
  /** `at`: ms since 1970; default now. */
  note(key: { readonly keyId: string; readonly workspaceId: string }, poll: Poll, at?: number): void;
  /** For an invalid key. `digest`: its SHA-256, latin1. */
  noteRefused(digest: string, poll: Poll): void;
}

/** Devices between two reads: per workspace, in total, with invalid keys. */
const MOST_OF_WORKSPACE = 5_000;
const MOST = 20_000;
const MOST_REFUSED = 1_000;
/** Devices counted regardless of the total. */
const ALWAYS = 100;
/** Stored characters. */
const USER_AGENT = 200;
const NO_USER_AGENT = '-';

interface Entry {
  /** Truncated. */
  readonly agent: string;
  readonly address: string;
  first: number;
  last: number;
  pulls: number;
  ok: number;
  notModified: number;
  refused: number;
  failed: number;
  lastStatus: number;
  validates: boolean;
  /** The latest at the end. */
  got: { content: AnsweredContent; at: number }[];
  /** Since the last content; undefined: none. */
  refusals: Map<string, DeviceRefusal> | undefined;
}

interface Owner {
  readonly keyId: string;
  readonly workspaceId: string;
}

/** `last` avoids a look-up: comparing two names is cheaper. */
interface AtAddress {
  last: Entry;
  readonly byAgent: Map<string, Entry>;
}

type KeyEntries = Map<string, AtAddress>;

/** `now`: ms since 1970. */
export function deviceLedger(now: () => number): DeviceLedger {
  let keys = new Map<string, { workspaceId: string; entries: KeyEntries }>();
  let refused = new Map<string, KeyEntries>();
  let ofWorkspace = new Map<string, number>();
  let all = 0;
  let allRefused = 0;
  const newcomers = new FirstSeen<Owner & { readonly entry: Entry }>();
  /** Devices of the previous interval. */
  let before: typeof keys = new Map();

  return {
    note({ keyId, workspaceId }, poll, at = now()) {
      let key = keys.get(keyId);
      if (key === undefined) {
        key = { workspaceId, entries: new Map() };
        keys.set(keyId, key);
      }
      let entry = find(key.entries, poll);
      const isNew = entry === undefined;
      entry ??= admit(key.entries, workspaceId, poll, at);
      if (entry === undefined) return;
      count(entry, poll, at);
      if (isNew && find(before.get(keyId)?.entries, poll) === undefined) newcomers.note(workspaceId, { keyId, workspaceId, entry });
    },
    noteRefused(digest, poll) {
      const entries = refused.get(digest) ?? new Map();
      let entry = find(entries, poll);
      if (entry === undefined) {
        if (allRefused >= MOST_REFUSED) return;
        allRefused += 1;
        refused.set(digest, entries);
        entry = add(entries, poll, now());
      }
      count(entry, poll, now());
    },
    take() {
      const devices = seenWith(keys);
      const hashed = [...refused].flatMap(([digest, entries]) =>
        [...seenOf(entries)].map((seen) => ({ hash: Buffer.from(digest, 'latin1'), seen })),
      );
      before = keys;
      newcomers.reset();
      [keys, refused, ofWorkspace, all, allRefused] = [new Map(), new Map(), new Map(), 0, 0];
      return { devices, refused: hashed };
    },
    takeNew() {
      return newcomers.take().map(({ entry, ...owner }) => {
        const seen = { ...seenAs(entry), ...owner };
        Object.assign(entry, NOTHING, { got: [], refusals: undefined });
        return seen;
      });
    },
    onNew(call) {
      newcomers.onFirst = call;
    },
  };

  /** undefined above the limit of the workspace. */
  function admit(entries: KeyEntries, workspaceId: string, poll: Poll, at: number): Entry | undefined {
    const known = ofWorkspace.get(workspaceId) ?? 0;
    if (known >= MOST_OF_WORKSPACE || (all >= MOST && known >= ALWAYS)) return undefined;
    ofWorkspace.set(workspaceId, known + 1);
    all += 1;
    return add(entries, poll, at);
  }
}

function find(entries: KeyEntries | undefined, { userAgent = NO_USER_AGENT, address }: Poll): Entry | undefined {
  const there = entries?.get(address);
  if (there === undefined || there.last.agent === userAgent) return there?.last;
  const found = there.byAgent.get(shortened(userAgent));
  if (found !== undefined) there.last = found;
  return found;
}

const NOTHING = { pulls: 0, ok: 0, notModified: 0, refused: 0, failed: 0, lastStatus: 0, validates: false };

const shortened = (userAgent: string) => (userAgent.length > USER_AGENT ? userAgent.slice(0, USER_AGENT) : userAgent);

function add(entries: KeyEntries, { userAgent = NO_USER_AGENT, address }: Poll, now: number): Entry {
  // A copy: a slice would retain the full string.
  const agent = Buffer.from(shortened(userAgent)).toString();
  const entry: Entry = { agent, address, first: now, last: now, ...NOTHING, got: [], refusals: undefined };
  const there = entries.get(address) ?? { last: entry, byAgent: new Map<string, Entry>() };
  entries.set(address, there);
  there.last = entry;
  there.byAgent.set(agent, entry);
  return entry;
}

function count(entry: Entry, { status, validates, content, refused }: Poll, now: number): void {
  if (entry.pulls === 0) entry.first = now;
  entry.last = now;
  entry.lastStatus = status;
  entry.pulls += 1;
  if (status === 304) entry.notModified += 1;
  else if (status < 400) entry.ok += 1;
  else if (status < 500) entry.refused += 1;
  else entry.failed += 1;
  if (validates) entry.validates = true;
  if (refused !== undefined) refuse(entry, refused, status, now);
  if (content === undefined) return;
  const last = entry.got.at(-1);
  if (last?.content === content) last.at = now;
  else got(entry, content, now);
}

function refuse(entry: Entry, refused: RefusedDocument, status: number, at: number): void {
  entry.refusals ??= new Map();
  const key = `${documentKey(refused)} ${status}`;
  const { since, count } = entry.refusals.get(key) ?? { since: at, count: 0 };
  entry.refusals.delete(key);
  if (entry.refusals.size >= MOST_DOCUMENTS) entry.refusals.delete(entry.refusals.keys().next().value!);
  entry.refusals.set(key, { ...refused, status, since, at, count: count + 1 });
}

/** Called if the document differs from the last poll's. */
function got({ got }: Entry, content: AnsweredContent, at: number): void {
  const known = got.findIndex((each) => each.content.feedId === content.feedId && each.content.variant === content.variant);
  if (known >= 0) got.splice(known, 1);
  else if (got.length >= MOST_DOCUMENTS) got.shift();
  got.push({ content, at });
}

/** One that was written already has only its later counts. */
function* seenOf(entries: KeyEntries): Generator<ReturnType<typeof seenAs>> {
  for (const { byAgent } of entries.values()) for (const entry of byAgent.values()) if (entry.pulls > 0) yield seenAs(entry);
}

function* seenWith(keys: ReadonlyMap<string, { readonly workspaceId: string; readonly entries: KeyEntries }>): Generator<SeenDevice> {
  for (const [keyId, { workspaceId, entries }] of keys) for (const seen of seenOf(entries)) yield { ...seen, keyId, workspaceId };
}

const seenAs = ({ agent, first, last, got, refusals, ...entry }: Entry) => ({
  ...entry,
  refusals: [...(refusals?.values() ?? [])].reverse(),
  userAgent: withoutSecrets(agent),
  firstPull: first,
  lastPull: last,
  documents: got.toReversed().map(({ content: { feedId, variant, etag, lastModified }, at }) => {
    const { format, family, action } = nameOf(variant);
    return { feedId, format, family, action, etag, lastModified, at };
  }),
});
