/** Rules and look-ups, as the management API returns them. */

interface Rule {
  id: number;
  kind: string;
  rule_ref: string | null;
  name: string | null;
  list_id?: string;
  target?: string;
  confidence?: string | null;
  severity?: string | null;
  type?: string;
  expression?: string;
  order?: number | null;
  short_description?: string | null;
  action: string;
  reason: string | null;
  labels: Record<string, unknown> | null;
  config: Record<string, unknown> | null;
  expires_at: string | null;
  created_at: string;
  updated_at: string;
  batch_id: string | null;
  key_id: string | null;
  key_name?: string | null;
  actor?: string;
  person?: string;
  warning?: string;
  /** Why the block lasts longer than sent. */
  repeated?: string;
}
/** Rules by id, or all that meet conditions. */
type RuleSelection = Record<string, any>;
type RuleName = { name: string; kind: 'field' | 'function'; type: string; takes: string | null };

interface ExplainedRule extends Rule {
  effect: Verdict | 'none';
  idle: string | null;
  relation: string;
  served_as: string | null;
  not_widened: string[];
  list_name: string;
  key_name: string | null;
  source: { name: string; refresh: string; since: string } | null;
}
interface ExplainedFeed {
  kind: FeedKind;
  id: string | null;
  name: string;
  verdict: Verdict;
  family: string;
  entries: number | null;
  max_entries: number | null;
  over_cap: boolean | null;
  frozen_since?: string | null;
  rules: ExplainedRule[];
  rules_left_out: number;
  protected_by: string[];
  agreement: { min_sources: number; found: number; lists: { name: string; always: boolean; copies: string[] }[] } | null;
  rank: { rank: number; limit: number } | null;
  unblock: { removes: number[]; verdict: Verdict };
  subtract_allow: { value: 'on' | 'workspace'; verdict: Verdict } | null;
}
type Puller = {
  kind: 'device' | 'bouncer';
  id: string | null;
  key_name: string | null;
  user_agent: string;
  address: string;
  state: 'has' | 'behind' | 'unknown';
  content_at: string | null;
  last_pull: string;
  stopped_at: string | null;
  refused: number | null;
  /** When its firewall had the networks of its feed; null: not known. */
  verified_at: string | null;
};
type PulledBy = { total: number; has: number; behind: number; unknown: number; refused: number; told: Puller[] };
type PathFeed = ExplainedFeed & {
  pulled_by?: PulledBy;
  never_block?: { verdict: Verdict; subtract: { value: 'on' | 'workspace'; verdict: Verdict } | null } | null;
};
interface LookupAnswer {
  target: string;
  action: 'block' | 'allow';
  at?: string;
  feeds: PathFeed[];
  dropped: { list: string; hits: number }[];
  where?: { country: string | null; asn: number | null; asn_name: string | null; attribution: string | null } | null;
  enforced?: { by: number; of: number };
  devices_left_out_feeds?: number;
  history?: TargetEvent[];
}
type TargetEvent = Sender & {
  at: string;
  event: string;
  target: string;
  action: string;
  list_name: string;
  reason: string | null;
  expires_at: string | null;
  batch_id: string | null;
};
type PastedVerdict = 'private' | 'protected' | 'never_block' | 'blocked' | 'inside' | 'new';
interface PastedTarget {
  target: string;
  verdict: PastedVerdict;
  why: string | null;
  rule: { id: number; target: string; list_name: string } | null;
  line: number;
  context: string;
  times: number;
}
type FeedSetting = { kind: FeedKind; id: string | null; name: string; subtract_allow: string | null };
type SplitRule = {
  rule: { id: number; target: string; list_name: string; reason: string | null; expires_at: string | null };
  parts: string[];
};
interface KeepingFeed {
  kind: FeedKind;
  id: string | null;
  name: string;
  verdict: Verdict;
  by: { target: string; list: string }[];
  way_out: { do: 'subtract_allow'; value: 'on' | 'workspace' } | { do: 'unblock'; lists: string[] } | null;
  target: string;
}
type StillBlockedAnswer = { still_blocked?: KeepingFeed[] | null; still_blocked_left_out?: number; still_blocked_reason?: string };
