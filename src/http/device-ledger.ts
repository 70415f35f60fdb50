/** What polls, noted as it is answered (SPEC D16.7). A poll that is answered from memory costs a few look-ups and numbers here. */
import type { IncomingMessage } from 'node:http';
import { MOST_DOCUMENTS, type SeenDevice } from '../account/device.ts';
import { FirstSeen } from '../account/first-seen.ts';
import { withoutSecrets } from '../account/secrets.ts';
import { nameOf } from '../feed/document.ts';
import type { DeviceNotes } from '../ports/devices.ts';
import type { HttpFault } from './errors.ts';
import type { AnsweredContent, DocumentAnswer } from './feeds/headers.ts';

/** A poll that was answered. */
export interface Poll {
  readonly userAgent: string | undefined;
  readonly address: string;
  readonly status: number;
  /** Whether it was conditional. */
  readonly validates: boolean;
  /** What was sent or confirmed; undefined where that is nothing. */
  readonly content: AnsweredContent | undefined;
}

/** What the ledger notes of a request and its answer. */
export function pollOf({ headers, method }: IncomingMessage, address: string, answered: DocumentAnswer | HttpFault): Poll {
  return {
    userAgent: headers['user-agent'],
    address,
    status: answered.status,
    validates: headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined,
    // A HEAD that is answered 200 got nothing.
    content: 'body' in answered && (answered.status === 304 || method === 'GET') ? answered.content : undefined,
  };
}

export interface DeviceLedger extends DeviceNotes {
  /** Notes the poll of a key that is valid, made at `at` (ms since 1970; now when absent). */
  note(key: { readonly keyId: string; readonly workspaceId: string }, poll: Poll, at?: number): void;
  /** Notes the poll of a key that is not valid; `digest` is its SHA-256, a character for each byte. */
  noteRefused(digest: string, poll: Poll): void;
}

/** Devices that are noted between two takings: of one workspace, and in all; of keys that are not valid. */
const MOST_OF_WORKSPACE = 5_000;
const MOST = 20_000;
const MOST_REFUSED = 1_000;
/** Devices of a workspace that are noted however many those of others are. */
const ALWAYS = 100;
/** Characters of a User-Agent that are kept. */
const USER_AGENT = 200;
/** What a request without User-Agent is called. */
const NO_USER_AGENT = '-';

/** A device as it is counted. */
interface Entry {
  /** Its User-Agent as it was sent, up to a length. */
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
  /** What it got last of each document, the last one at the end. */
  got: { content: AnsweredContent; at: number }[];
}

interface Owner {
  readonly keyId: string;
  readonly workspaceId: string;
}

/** The devices at one address, and the one that polled last: to compare two names costs less than to look one up. */
interface AtAddress {
  last: Entry;
  readonly byAgent: Map<string, Entry>;
}

/** The devices of one key, by address. */
type KeyEntries = Map<string, AtAddress>;

/** A ledger that has seen nothing yet. `now`: ms since 1970. */
export function deviceLedger(now: () => number): DeviceLedger {
  let keys = new Map<string, { workspaceId: string; entries: KeyEntries }>();
  let refused = new Map<string, KeyEntries>();
  let ofWorkspace = new Map<string, number>();
  let all = 0;
  let allRefused = 0;
  const newcomers = new FirstSeen<Owner & { readonly entry: Entry }>();
  /** The devices of the taking before. */
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
        Object.assign(entry, NOTHING, { got: [] });
        return seen;
      });
    },
    onNew(call) {
      newcomers.onFirst = call;
    },
  };

  /** A new entry, unless the workspace has as many as are noted. */
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
  // A copy: a part of a text would keep the whole of it.
  const agent = Buffer.from(shortened(userAgent)).toString();
  const entry: Entry = { agent, address, first: now, last: now, ...NOTHING, got: [] };
  const there = entries.get(address) ?? { last: entry, byAgent: new Map<string, Entry>() };
  entries.set(address, there);
  there.last = entry;
  there.byAgent.set(agent, entry);
  return entry;
}

function count(entry: Entry, { status, validates, content }: Poll, now: number): void {
  if (entry.pulls === 0) entry.first = now;
  entry.last = now;
  entry.lastStatus = status;
  entry.pulls += 1;
  if (status === 304) entry.notModified += 1;
  else if (status < 400) entry.ok += 1;
  else if (status < 500) entry.refused += 1;
  else entry.failed += 1;
  if (validates) entry.validates = true;
  if (content === undefined) return;
  const last = entry.got.at(-1);
  if (last?.content === content) last.at = now;
  else got(entry, content, now);
}

/** Notes a document that is not the one of the last poll. */
function got({ got }: Entry, content: AnsweredContent, at: number): void {
  const known = got.findIndex((each) => each.content.feedId === content.feedId && each.content.variant === content.variant);
  if (known >= 0) got.splice(known, 1);
  else if (got.length >= MOST_DOCUMENTS) got.shift();
  got.push({ content, at });
}

/** What has polled; a newcomer that was written has only where it has since. */
function* seenOf(entries: KeyEntries): Generator<ReturnType<typeof seenAs>> {
  for (const { byAgent } of entries.values()) for (const entry of byAgent.values()) if (entry.pulls > 0) yield seenAs(entry);
}

function* seenWith(keys: ReadonlyMap<string, { readonly workspaceId: string; readonly entries: KeyEntries }>): Generator<SeenDevice> {
  for (const [keyId, { workspaceId, entries }] of keys) for (const seen of seenOf(entries)) yield { ...seen, keyId, workspaceId };
}

const seenAs = ({ agent, first, last, got, ...entry }: Entry) => ({
  ...entry,
  userAgent: withoutSecrets(agent),
  firstPull: first,
  lastPull: last,
  documents: got.toReversed().map(({ content: { feedId, variant, etag, lastModified }, at }) => {
    const { format, family, action } = nameOf(variant);
    return { feedId, format, family, action, etag, lastModified, at };
  }),
});
