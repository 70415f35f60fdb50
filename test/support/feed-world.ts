/** A clock that stands still, a store in memory and feeds over both, for tests about what happens when. */

import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import type { Caller } from '../../src/account/caller.ts';
import { type FeedKind, feedRevision, NO_MAKING } from '../../src/account/feed.ts';
import { blockGuards, NO_GUARD_RAILS, type ServiceGuardRails } from '../../src/account/guard-rails.ts';
import { type AccessList, type ListSettings, NO_SETTINGS } from '../../src/account/list.ts';
import { NO_WORKSPACE_SETTINGS, type WorkspaceSettings } from '../../src/account/workspace.ts';
import type { Clock } from '../../src/clock.ts';
import { type DecisionAnswers, decisionBuilder } from '../../src/decisions/build/decision-builder.ts';
import { MOST_NETWORKS, type NetworkBounds } from '../../src/decisions/build/decision-feeds.ts';
import { documentBuilder } from '../../src/feed/build/document-builder.ts';
import type { DocumentBuilder } from '../../src/feed/builder.ts';
import { levelCode } from '../../src/feed/levels.ts';
import { FeedWatch } from '../../src/feed/monitor/feed-watch.ts';
import { DocumentCache } from '../../src/feed/serve/cache.ts';
import type { DocumentCacheOptions } from '../../src/feed/serve/context.ts';
import { storedVariant } from '../../src/feed/variant.ts';
import { hostPrefixes, needsLists } from '../../src/feed/widening.ts';
import type { Call } from '../../src/http/call.ts';
import type { HttpFault } from '../../src/http/errors.ts';
import { documentEndpoint } from '../../src/http/feeds/document.ts';
import type { DocumentAnswer } from '../../src/http/feeds/headers.ts';
import { signer } from '../../src/http/feeds/signature.ts';
import { router } from '../../src/http/router.ts';
import type { GeoDatabase, GeoRanges } from '../../src/ports/geo.ts';
import { EXCEPTIONS_KEY, type FoundFeed, type RuleSink, type StoredRulesSink } from '../../src/ports/snapshot.ts';
import type { StoreReads, StoreWrites } from '../../src/ports/store.ts';
import type { NewLogRow } from '../../src/ports/stored/bouncer-store.ts';
import type { DocumentRecordKey } from '../../src/ports/stored/rule-store.ts';
import type { RuleState, StoredRule as WholeRule } from '../../src/ports/stored/stored-rule.ts';
import type { AccessAction, ExpressionRule, Kind, Level, RuleRole, Target } from '../../src/rule.ts';

/** A Friday, 10:00:00 UTC. */
export const START = Date.UTC(2026, 10, 20, 10, 0, 0);

/** Time that only a test moves: both clocks together, or the wall clock alone, as when somebody sets it. */
export class ManualClock implements Clock {
  #now = START;
  #monotonic = 5_000_000;
  readonly #timers = new Map<object, { at: number; run: () => void }>();

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  get second(): number {
    return Math.floor(this.#now / 1000);
  }

  after(ms: number, run: () => void): () => void {
    const key = {};
    this.#timers.set(key, { at: this.#monotonic + ms, run });
    return () => this.#timers.delete(key);
  }

  /** Goes on by `ms`; what is due runs, and what it set going comes to rest. */
  async advance(ms: number): Promise<void> {
    this.#now += ms;
    this.#monotonic += ms;
    for (const [key, { at, run }] of this.#timers) {
      if (at > this.#monotonic) continue;
      this.#timers.delete(key);
      run();
    }
    await settled();
  }

  /** Sets the wall clock forward by `ms`, or back. */
  set(ms: number): void {
    this.#now += ms;
  }
}

/** Lets all that does not wait for time come to rest. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

interface StoredRule {
  readonly id: number;
  readonly listId: string;
  readonly action: AccessAction;
  readonly target: Target;
  /** Whole seconds, 0 = none. */
  expires: number;
  readonly confidence: Level | null;
  readonly severity: Level | null;
}

const WAF_RULE: Omit<ExpressionRule, 'ruleRef'> = {
  name: null,
  reason: null,
  labels: null,
  config: null,
  expiresAt: null,
  type: 'custom',
  expression: 'http.request.path == "/a"',
  action: 'block',
  order: null,
  shortDescription: null,
};
export const WORKSPACE = '018f0000-0000-7000-8000-000000000001';

type MemoryFeed = FoundFeed & { readonly lists: readonly string[] | null };

/** The calls that feeds make, over rules in an array. `down` makes reads, `readOnly` makes writes fail. */
export class MemoryStore
  implements
    Pick<StoreReads, 'findNamed' | 'directory' | 'feeds' | 'snapshot' | 'ruleStates' | 'rulesById' | 'logRecords'>,
    Pick<StoreWrites, 'recordDocument' | 'recordLog'>
{
  down = false;
  readOnly = false;
  hanging = false;
  /** Moves when a list is deleted. */
  keyRevision = 1;
  /** How often each call was made. */
  readonly calls = { revisions: 0, findNamed: 0, snapshot: 0, ruleStates: 0, rulesById: 0, recordDocument: 0 };
  /** What `ruleStates` was asked for. */
  readonly asked: (readonly number[])[] = [];
  readonly records = new Map<string, { hash: string; snapshotAt: number; since: number }>();
  readonly #clock: Clock;
  #workspaceSettings: WorkspaceSettings = NO_WORKSPACE_SETTINGS;
  #revision = 1;
  #nextId = 1;
  #lists: AccessList[] = [];
  #feeds: MemoryFeed[] = [];
  #rules: StoredRule[] = [];
  #wafRules: WholeRule[] = [];
  #expressionRevision = 1;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  addList(name: string, settings: Partial<ListSettings> & { description?: string } = {}): string {
    const id = `018f0000-0000-7000-8000-10000000${String(this.#lists.length).padStart(4, '0')}`;
    const list = { id, workspaceId: WORKSPACE, name, isDefault: this.#lists.length === 0, sourceId: null, ...NO_SETTINGS, ...settings };
    this.#lists.push({ ...list, revision: ++this.#revision });
    return id;
  }

  /** Makes a composed feed of these lists, or of all (null). Returns its id. */
  addFeed(name: string, lists: readonly string[] | null, settings: Partial<ListSettings> = {}): string {
    const id = `018f0000-0000-7000-8000-20000000${String(this.#feeds.length).padStart(4, '0')}`;
    this.#feeds.push({ id, name, ...NO_SETTINGS, ...settings, lists, revision: ++this.#revision });
    return id;
  }

  setFeed(id: string, change: Partial<MemoryFeed>): void {
    this.#revision += 1;
    const before = this.#feeds.find((feed) => feed.id === id)!;
    this.#feeds = this.#feeds.map((feed) => (feed.id === id ? { ...feed, ...change, revision: feed.revision + this.#revision } : feed));
    this.#redate(before, change);
  }

  #found({ lists, ...feed }: MemoryFeed): FoundFeed {
    const revisions = this.#lists.filter(({ id }) => lists?.includes(id)).map(({ revision }) => revision);
    return { ...feed, revision: feed.revision + (lists === null ? this.#revision : revisions.reduce((sum, each) => sum + each, 0)) };
  }

  /** Adds or changes a WAF rule; with `ttl` it expires that many seconds from now, rounded up. */
  setWafRule(ruleRef: string, { ttl, ...given }: Partial<ExpressionRule> & { ttl?: number } = {}): void {
    const now = this.#clock.now();
    const known = this.#wafRules.find(({ rule }) => rule.ruleRef === ruleRef);
    const expiresAt = ttl === undefined ? null : Math.ceil(now / 1000 + ttl) * 1000;
    const rule: ExpressionRule = { ...WAF_RULE, ...given, ruleRef, expiresAt };
    const id = known?.id ?? this.#nextId++;
    this.#wafRules = [
      ...this.#wafRules.filter((each) => each !== known),
      { id, kind: 'waf_rule', listId: null, rule, createdAt: START, updatedAt: now, seq: id },
    ];
    this.#expressionRevision += 1;
  }

  setWorkspace(change: Partial<WorkspaceSettings>): void {
    this.#workspaceSettings = { ...this.#workspaceSettings, ...change };
    for (const { id } of this.#lists) this.setList(id, {});
  }

  setList(id: string, change: Partial<AccessList>): void {
    this.#revision += 1;
    const before = this.list(id);
    this.#lists = this.#lists.map((list) => (list.id === id ? { ...list, ...change, revision: this.#revision } : list));
    this.#redate(before, change);
  }

  /** As `store/document-record.ts` does. */
  #redate(before: AccessList | MemoryFeed, change: Partial<AccessList | MemoryFeed>): void {
    if (!['name', 'format', 'family', 'action', 'target'].some((field) => field in change)) return;
    const own = [...this.records].filter(([name]) => JSON.parse(name)[1] === before.id);
    const first = Math.max(Math.floor(this.#clock.now() / 1000), ...own.map(([, row]) => row.since + 1));
    const [was, is] = [storedVariant(before), storedVariant({ ...before, ...change })];
    const changed = (['format', 'family', 'action'] as const).filter((part) => was[part] !== is[part]);
    const ofAll = changed.length === 0 || 'name' in change ? 1 : 0;
    for (const [name, row] of own) {
      const [, , format, family, action] = JSON.parse(name);
      const later = ofAll + changed.filter((part) => was[part] !== { format, family, action }[part]).length;
      if (later > 0) this.records.set(name, { ...row, since: first + later - 1 });
    }
  }

  list(id: string): AccessList {
    return this.#lists.find((list) => list.id === id)!;
  }

  deleteList(id: string): void {
    this.#revision += 1;
    this.keyRevision += 1;
    this.#lists = this.#lists.filter((list) => list.id !== id);
  }

  /** Adds a rule on a network, `AS1` or `NL`; with `ttl` it expires that many seconds from now, rounded up. Returns its id. */
  add(listId: string, target: string, rule: { action?: AccessAction; ttl?: number; confidence?: Level; severity?: Level } = {}): number {
    const { action = 'block', ttl, confidence = null, severity = null } = rule;
    const id = this.#nextId++;
    const expires = ttl === undefined ? 0 : Math.ceil(this.#clock.now() / 1000 + ttl);
    this.#rules.push({ id, listId, action, target: targetOf(target), expires, confidence, severity });
    this.#touch(listId);
    return id;
  }

  renew(id: number, ttl: number): void {
    const rule = this.#rules.find((each) => each.id === id)!;
    rule.expires = Math.ceil(this.#clock.now() / 1000 + ttl);
    this.#touch(rule.listId);
  }

  remove(id: number): void {
    const rule = this.#rules.find((each) => each.id === id)!;
    this.#rules = this.#rules.filter((each) => each !== rule);
    this.#touch(rule.listId);
  }

  #touch(listId: string): void {
    this.setList(listId, {});
  }

  async #read(call: keyof MemoryStore['calls']): Promise<void> {
    this.calls[call] += 1;
    if (this.hanging) return new Promise(() => {});
    await new Promise(setImmediate);
    if (this.down) throw new Error('the store is down');
  }

  async revisions() {
    await this.#read('revisions');
    return new Map([[WORKSPACE, this.#revision]]);
  }

  async findNamed(workspaceId: string, ref: string) {
    await this.#read('findNamed');
    if (workspaceId !== WORKSPACE) return undefined;
    const byId = this.#lists.filter(({ id }) => id === ref.toLowerCase());
    const lists = byId.length > 0 ? byId : this.#lists.filter(({ name }) => name === ref);
    const feeds = this.#feeds.filter(({ id, name }) => id === ref || (name === ref && lists.length === 0)).map((feed) => this.#found(feed));
    return {
      id: WORKSPACE,
      name: 'acme',
      revision: this.#revision,
      signingSecret: null,
      expressionRevision: this.#expressionRevision,
      readAt: this.#clock.now(),
      lists,
      feeds,
    };
  }

  async directory() {
    return { id: WORKSPACE, name: 'acme', revision: this.#revision, readAt: this.#clock.now(), lists: this.#lists };
  }

  async feeds() {
    return this.#feeds.map((feed) => ({ ...feed, ...NO_MAKING, workspaceId: WORKSPACE }));
  }

  async snapshot(...[, feedId, now, sink, whole]: Parameters<StoreReads['snapshot']>) {
    return this.#snapshot(feedId, now, sink, whole, (key, isApart) => isApart && sink?.list?.(key));
  }

  async #snapshot(
    feedId: Parameters<StoreReads['snapshot']>[1],
    now: number,
    sink: RuleSink | undefined,
    whole: StoredRulesSink | undefined,
    onEach: (key: string, isApart: boolean) => void,
  ) {
    await this.#read('snapshot');
    const list = this.#lists.find(({ id }) => id === feedId);
    const feed = this.#feeds.find(({ id }) => id === feedId);
    if (feedId !== null && list === undefined && feed === undefined) return undefined;
    const isOfFeed = (id: string) => feedId === null || id === feedId || (feed !== undefined && (feed.lists?.includes(id) ?? true));
    const found = list ?? (feed && this.#found(feed));
    const subtractAllow = this.#workspaceSettings.subtractAllow === 'on' ? 'on' : null;
    const kind: FeedKind = found === undefined ? 'workspace' : found === list ? 'list' : 'composed';
    const profile = found ?? { name: 'acme', ...NO_SETTINGS, subtractAllow };
    const guardRails = this.#workspaceSettings;
    const ofFeed = feed?.lists?.map((each) => this.list(each)) ?? this.#lists.filter(({ id }) => isOfFeed(id));
    const lists = ofFeed.map((each) => ({ id: each.id, name: each.name, key: each.id, levels: 0, hosts: hostPrefixes(each, profile) }));
    const onList = (key: string) => onEach(key, needsLists({ quorum: undefined, lists }));
    const own = this.#rules.filter((rule) => isOfFeed(rule.listId));
    const exceptions = found?.subtractAllow === 'workspace' ? this.#rules.filter(({ action }) => action === 'allow') : [];
    const read = [
      ...own.map((rule) => ({ ...rule, role: rule.action as RuleRole })),
      ...exceptions.map((rule) => ({ ...rule, role: 'exception' as const })),
    ];
    if (whole?.kinds.includes('waf_rule')) for (const rule of this.#activeWafRules(now)) whole.take(rule);
    for (const { id } of this.#lists) if (isOfFeed(id)) onList(id);
    for (const rule of sink === undefined ? [] : read) {
      const { id, role, target, expires } = rule;
      const levels = levelCode(rule.confidence, rule.severity);
      if (expires !== 0 && expires * 1000 <= now) continue;
      onList(role === 'exception' ? EXCEPTIONS_KEY : rule.listId);
      if (target.kind !== 'ip') sink!.geo(id, role, target, expires, levels);
      else if (target.network.family === 4) sink!.v4(id, role, target.network.address, target.network.prefix, expires, levels);
      else {
        const bytes = Buffer.alloc(16);
        for (const [i, word] of target.network.address.entries()) bytes.writeUInt32BE(word, 4 * i);
        sink!.v6(id, role, bytes, 0, target.network.prefix, expires, levels);
      }
    }
    return {
      kind,
      profile,
      guardRails,
      lists,
      quorum: undefined,
      change: 0,
      revision: feedRevision(profile, found?.revision ?? this.#revision, this.#revision),
      signingSecret: null,
      expressionRevision: this.#expressionRevision,
      workspaceCreatedAt: START,
      readAt: this.#clock.now(),
    };
  }

  /** Reads all lists of the feed, whatever is known. */
  async follow(...[, feedId, now, known, sink]: Parameters<StoreReads['follow']>) {
    if (known.lists.size > 0) return 'too_far' as const;
    return this.#snapshot(feedId, now, sink, undefined, (key) => sink.list(key, true));
  }

  async ruleStates(_workspaceId: string, ids: readonly number[]): Promise<RuleState[]> {
    this.asked.push(ids);
    await this.#read('ruleStates');
    return this.#rules.filter(({ id }) => ids.includes(id)).map(({ id, action, target, expires }) => ({ id, action, target, expires }));
  }

  #activeWafRules(now: number): WholeRule[] {
    return this.#wafRules.filter(({ rule: { expiresAt } }) => expiresAt === null || expiresAt > now);
  }

  async rulesById(_workspaceId: string, kind: Kind, ids: readonly number[]): Promise<WholeRule[]> {
    this.asked.push(ids);
    await this.#read('rulesById');
    return kind === 'waf_rule' ? this.#wafRules.filter(({ id }) => ids.includes(id)) : [];
  }

  async recordDocument(
    workspaceId: string,
    key: DocumentRecordKey,
    seen: { hash: string; snapshotAt: number; second: number; lastModified?: number },
  ) {
    this.calls.recordDocument += 1;
    await new Promise(setImmediate);
    if (this.down || this.readOnly) throw new Error('the store takes no writes');
    const name = JSON.stringify([workspaceId, key.feedId, key.format, key.family, key.action]);
    let row = this.records.get(name);
    const own = [...this.records].filter(([each]) => JSON.parse(each)[1] === key.feedId).map(([, { since }]) => since);
    if (row === undefined) row = { hash: seen.hash, snapshotAt: seen.snapshotAt, since: Math.max(seen.second, ...own) };
    else if (seen.snapshotAt >= row.snapshotAt || row.snapshotAt > this.#clock.now() + 10_000) {
      const since = seen.hash === row.hash ? row.since : Math.max(seen.second, row.since + 1);
      row = { hash: seen.hash, snapshotAt: seen.snapshotAt, since };
    }
    const { lastModified = 0 } = seen;
    if (seen.hash === row.hash && lastModified > row.since && lastModified <= this.#clock.now() / 1000)
      row = { ...row, since: lastModified };
    this.records.set(name, row);
    return row;
  }

  /** What bouncers were told, by feed. */
  readonly toldRows = new Map<string | null, { seq: number; bytes: Uint8Array }[]>();

  async logRecords(_workspaceId: string, feedId: string | null, after: number) {
    await new Promise(setImmediate);
    if (this.down) throw new Error('the store is down');
    return (this.toldRows.get(feedId) ?? []).filter(({ seq }) => seq > after);
  }

  async recordLog(_workspaceId: string, feedId: string | null, { bytes, isComplete, through }: NewLogRow) {
    await new Promise(setImmediate);
    if (this.down || this.readOnly) throw new Error('the store takes no writes');
    const rows = (this.toldRows.get(feedId) ?? []).filter(({ seq }) => !isComplete || seq > through);
    const seq = Math.max(through, ...rows.map((row) => row.seq)) + 1;
    this.toldRows.set(feedId, [...rows, { seq, bytes }]);
    return { seq, forgotten: [] };
  }
}

function targetOf(text: string): Target {
  if (text.startsWith('AS')) return { kind: 'asn', asn: Number(text.slice(2)) };
  if (/^[A-Z]{2}$/.test(text)) return { kind: 'country', country: text };
  return { kind: 'ip', network: parseNetwork(text) as Network };
}

/** Made-up geo data: NL and AS64500 overlap, and hold both families. */
export const GEO: GeoDatabase = {
  version: 'geo 1',
  hasAsn: (asn) => asn === 64500,
  ranges(target): GeoRanges {
    const name = target.kind === 'asn' ? `AS${target.asn}` : target.country;
    return { v4: Uint32Array.from(RANGES_V4[name] ?? []), v6: Uint32Array.from(RANGES_V6[name] ?? []) };
  },
};
const RANGES_V4: Record<string, number[]> = {
  NL: [0xc6336400, 0xc63364ff, 0xcb007100, 0xcb007102],
  AS64500: [0xc6336480, 0xc63365ff],
};
const RANGES_V6: Record<string, number[]> = { NL: [0x20010db8, 0, 0, 0, 0x20010db8, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff] };

export interface Reply {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly bytes: Uint8Array;
  /** Of an error. */
  readonly fault: HttpFault | undefined;
}

interface ReplicaOptions {
  readonly geo?: () => GeoDatabase;
  /** Of the service. */
  readonly guardRails?: Partial<ServiceGuardRails>;
  /** What a call from thread to thread goes through. */
  readonly gates?: <C extends (...args: never[]) => Promise<unknown>>(call: C) => C;
  /** Networks of bouncers' feeds that are held. */
  readonly mostNetworks?: NetworkBounds;
  readonly workspaceId?: string;
  readonly recordTrim?: StoreWrites['recordTrim'];
}

/** The calls that a replica makes of a store: one in memory, or a real one with its key revision given as an option. */
type FeedStore = Pick<StoreReads, 'findNamed' | 'snapshot' | 'follow' | 'ruleStates' | 'rulesById' | 'logRecords'> &
  Pick<StoreWrites, 'recordDocument' | 'recordLog'>;

/** One replica: its own snapshots and cache over a store that it may share. */
export class Replica {
  readonly cache: DocumentCache;
  readonly builder: DocumentBuilder;
  readonly decisions: DecisionAnswers['decisions'];
  readonly errors: Error[] = [];
  /** Lines of the log, each with its level before it. */
  readonly log: string[] = [];
  readonly #find: ReturnType<typeof router>;
  readonly #workspaceId: string;

  constructor(clock: Clock, store: FeedStore, options: Partial<DocumentCacheOptions> & ReplicaOptions = {}) {
    this.#workspaceId = options.workspaceId ?? WORKSPACE;
    const geo = options.geo ?? (() => GEO);
    const guard = blockGuards({ ...NO_GUARD_RAILS, self: [], ...options.guardRails });
    const report = (error: Error) => this.errors.push(error);
    const { decisions, contents } = decisionBuilder({
      store,
      recordLog: (workspaceId, feedId, row) => store.recordLog(workspaceId, feedId, row),
      clock,
      most: options.mostNetworks ?? MOST_NETWORKS,
    });
    this.decisions = decisions;
    const builder = documentBuilder({
      store,
      recordTrim: options.recordTrim,
      versioned: contents,
      geo,
      guard,
      phaseOf: () => 'request',
      clock,
    });
    const { gates } = options;
    this.builder = gates === undefined ? builder : { build: gates(builder.build), forget: gates(builder.forget) };
    this.cache = new DocumentCache({
      store,
      builder: this.builder,
      clock,
      rebuildSeconds: 30,
      bodyBytes: 1 << 20,
      geoVersion: () => geo().version,
      zlib: 'test',
      keyRevision: () => (store as Partial<MemoryStore>).keyRevision,
      caughtUp: undefined,
      watch: new FeedWatch(
        (level, message) => this.log.push(`${level} ${message}`),
        () => clock.now(),
      ),
      report,
      ...options,
    });
    this.#find = router({
      answerDocument: documentEndpoint(this.cache, signer([], () => clock.now()).feed, () => clock.now(), report),
    });
  }

  /** GET of a feed: `''`, `?format=…`, `/name?…`. */
  async get(target: string, headers: Record<string, string> = {}, listId: string | null = null): Promise<Reply> {
    return this.getDocument(`/v1/threat/feeds${target}`, headers, listId);
  }

  /** GET of any address that is polled. */
  async getDocument(target: string, headers: Record<string, string> = {}, listId: string | null = null): Promise<Reply> {
    const { endpoint, ...found } = this.#find('GET', target);
    if ('status' in endpoint) throw new Error(`nothing is polled there: ${target}`);
    const caller: Caller = {
      keyId: 'k',
      workspaceId: this.#workspaceId,
      organizationId: 'o',
      subscription: 'active',
      permissions: ['feed:read'],
      listId,
      feedId: null,
      guardRails: NO_GUARD_RAILS,
      sample: null,
      networks: [],
      expiresAt: null,
    };
    const asked = endpoint.row.read({ ...found, request: { headers }, at: undefined } as unknown as Call, caller, Buffer.alloc(0));
    const isRefused = asked !== null && typeof asked === 'object' && 'status' in asked;
    return replyOf((isRefused ? asked : await endpoint.answer(asked)) as DocumentAnswer | HttpFault);
  }
}

function replyOf(answer: DocumentAnswer | HttpFault): Reply {
  if (!('body' in answer))
    return {
      status: answer.status,
      headers: (answer.headers ?? {}) as Record<string, string>,
      body: '',
      bytes: new Uint8Array(),
      fault: answer,
    };
  const headers: Record<string, string> = {};
  for (let i = 0; i < answer.headers.length; i += 2) headers[answer.headers[i].toLowerCase()] = answer.headers[i + 1];
  const bytes = Buffer.from(answer.body ?? '');
  return { status: answer.status, headers, body: bytes.toString(), bytes, fault: undefined };
}

/** The second that a reply's Last-Modified names. */
export const lastModified = (reply: Reply): number => Date.parse(reply.headers['last-modified']) / 1000;
