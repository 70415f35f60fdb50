/** Answers of the management API, as far as the console reads them. `any`: parts that it only renders. */

type Verdict = 'in' | 'partly' | 'out';
type FeedKind = 'workspace' | 'list' | 'composed';
type Sender = { actor?: string | null; key_id: string | null; key_name?: string | null; batch_id?: string | null };
type Snooze = {
  id: string;
  reason: string;
  since: string;
  until: string;
  actor: string | null;
  key_id: string | null;
  key_name: string | null;
};
type AlertItem = { key: string; state: string; text: string; urgent: boolean; snooze: Snooze | null; requests?: number };
type AddressChange = { action: 'block' | 'allow'; family: 4 | 6; before: number; after: number; widest: string[] };

interface AuditEntry {
  id: number;
  at: string;
  event: string;
  object: string;
  name: string | null;
  key_id: string | null;
  person: string | null;
  key_name: string | null;
  actor: string | null;
  act: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  names: Record<string, string>;
}
/** `entry`: the last one of `parts`, newest first. */
type Act = { entry: AuditEntry; parts: AuditEntry[] };

interface Batch {
  id: string;
  what: 'sent' | 'refreshed' | 'deleted' | 'changed' | 'undone' | null;
  list_id: string | null;
  lists: number;
  has_targets: boolean | null;
  key_id: string | null;
  key_name: string | null;
  actor: string | null;
  person: string | null;
  received_at: string;
  landed_at: string;
  entries: number;
  undoes: string | null;
  undone_by: string | null;
  undoable: boolean;
}
type Effect = { removes: number; restores: number; keeps: number; sample: string[] };

interface Change extends Omit<AuditEntry, 'id' | 'object'> {
  id: string;
  /** Of a batch. */
  entries?: number;
  from: string | null;
  kind: 'rules' | 'sources' | 'settings' | 'lists' | 'keys';
  list_id: string | null;
  list_name: string | null;
  rule_kind: string | null;
  added: number | null;
  renewed: number | null;
  removed: number | null;
  expired: number | null;
  reason: string | null;
  several_reasons: boolean;
  batch_id: string | null;
  undoes: string | null;
  object: string | null;
  text: string | null;
}

type Client = { key_id: string; key_name: string | null; user_agent: string; address: string; last_pull: string | null };
interface Bouncer extends Client {
  feed_id: string | null;
  first_seen: string;
  /** null: it looks addresses up. */
  last_stream: string | null;
  refusal: { status: number; since: string; count: number } | null;
  decisions: number;
  networks: number;
  left_out_networks: number;
  left_out_addresses: number;
  cannot_enforce: string | null;
  depends_on_mode: string | null;
  /** Networks read back from its firewall; null: not reported. */
  enforced: { at: string | null; count: number; verdict: 'same' | 'different' | 'unknown' } | null;
  differed_at: string | null;
  usage_metrics: any;
  usage_metrics_at: string | null;
}
interface Device extends Client {
  id: string;
  first_pull: string;
  last_pull: string;
  last_status: number;
  pulls: number;
  interval_seconds: number | null;
  answers: Record<'200' | '304' | '4xx' | '5xx', number>;
  sends_validators: boolean;
  stopped_at: string | null;
  refusals: Refusal[];
  documents: DeviceDocument[];
}
type Variant = { format: string; family: string; action: string };
type DeviceDocument = Variant & {
  feed_id: string | null;
  etag: string;
  last_modified: string;
  at: string;
  behind_seconds: number | null;
};
interface Refusal {
  feed_id: string | null;
  feed_name: string | null;
  format: string | null;
  family: string | null;
  action: string | null;
  status: number;
  since: string;
  at: string;
  count: number;
}
type DeadLetter = {
  id: number;
  at: string;
  reason: string;
  partition: number;
  offset: number;
  timestamp: string;
  headers: Record<string, string>;
  value: string;
};

/** Entries of the variants of a feed with equal content. */
interface Built {
  formats: string[];
  family: string;
  action: string;
  entries: number;
  entry_limit: number;
  over_cap: boolean;
  built_at: string;
}
/** A list, a composed feed or the workspace. `fresh`: its current count. */
interface FeedRow {
  id: string;
  kind: FeedKind;
  name: string;
  description: string | null;
  default?: boolean;
  all_lists?: boolean;
  lists?: string[];
  always?: string[];
  min_sources?: number | null;
  format?: string | null;
  family?: string | null;
  action?: string | null;
  feed: { built: Built[]; stale_since: string | null; events: { kind: string; text: string; since: string }[] } | null;
  old_sources?: Source[];
  fresh?: Built;
}
type Trimmed = { lists: { name: string; entries: number }[]; min_sources: number | null; entries: number | null };
type DeletedFeed = { kind: 'list' | 'composed'; id: string; name: string; deleted_at: string; restorable_until: string; keys: number };
type Named = { id: string; name: string };
type Use = Client & { kind: 'device' | 'bouncer' };
type Uses = { pulled: Use[]; pulled_left_out: number };
type DeletePreview = Uses & { rules: number; more_rules: boolean; feeds: Named[]; keys: Named[] };
type FeedChange = {
  id: string | null;
  kind: string;
  name: string;
  action: string;
  entries_before: number;
  widened?: { hosts: number; as_sent: number };
  entries_after: number;
  entry_limit: number;
  warning?: string;
};

interface GeoKind {
  source: 'packaged' | 'downloaded' | 'operator';
  format: string;
  date: string;
  age_days: number;
  keys: number;
  ranges_v4: number;
  ranges_v6: number;
  attribution: string | null;
}
interface Key {
  id: string;
  prefix: string;
  name: string | null;
  permissions: string[];
  role: string | null;
  list_id: string | null;
  feed_id: string | null;
  from: string[];
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
}

interface Source {
  id: string;
  list_id: string;
  name: string;
  state: string;
  paused: boolean;
  url: string;
  purpose: 'block' | 'allow';
  catalogue: string | null;
  every: number;
  entries: number;
  next_at: string | null;
  waits_for: string | null;
  waits_until: string | null;
  fetched_at: string | null;
  confirmed_at: string | null;
  changed_at: string | null;
  expires_at: string | null;
  failures: number;
  fault: string | null;
  held: RefreshOnHold | null;
  asked: string | null;
}
type RefreshOnHold = { replacement: string; since: string; reason: string; difference: Record<string, number> | null };

type Share = { entries: number; addresses_v4: number; addresses_v6: number };
interface ComparedList extends Share {
  id: string;
  name: string;
  added: number;
  gone: number;
  unique: Share;
  idle: boolean;
  copies: { name: string; entries: number }[];
  detections: { of: number; before: number; after: number; never: number; lead_seconds: number | null };
  never_block: { count: number; first: { list: string; value: string }[] };
  overlaps: (Share & { name: string })[];
  hits: number;
}
type Detected = { days: number; count: number; first: string | null };
type ListsComparison = { at: string; detections: Detected; lists: ComparedList[]; lists_left_out: number; dropped: { hits: number } };
type ListComparison = ComparedList & {
  at: string;
  detected: Detected;
  left_out: number;
  protected: string[];
  days: { day: string; added: number; expired: number; removed: number; undone: number }[];
  feeds: any[];
};
type Rails = { protect: string[]; min_prefix_v4: number; min_prefix_v6: number };
/** A resource that can be edited. */
type Tagged = { body: any; tag: string | null };
type GroupRole = { text: string; role: string; provider: string; group: string };
type Webhook = {
  id: string;
  name: string;
  url: string;
  style: string;
  has_secret: boolean;
  tag: string | null;
  waiting: boolean;
  deliveries: any[];
};
type Trial = { id: string; state: string; bytes: number; read_bytes: number; requests: number; fault: string | null; result: any };
