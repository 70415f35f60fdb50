/** Types that several modules of the console use. */

/** `status` 0: the service did not answer. `tag`: the ETag of a resource that can be edited. */
type ApiAnswer = { status: number; body: any; tag: string | null; location: string | null };
type Fault = { field: string; message: string; value?: unknown };
/** A string or Blob as `body` is sent as it is; `once`: its Idempotency-Key. */
type ApiRequest = {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  body?: unknown;
  ifMatch?: string;
  once?: string;
  signal?: AbortSignal;
};
/** After a failed read `value` keeps the previous answer. */
type Live<T> = { value: T | undefined; error: Error | undefined; refresh: () => Promise<void> };
type KeysetPage = { after: string | undefined; limit: number; items: any[]; next: string | null };
/** `items`: all that were read, each once; `onSight` reports the visible ones. */
interface Keyset {
  items: any[] | undefined;
  isComplete: boolean;
  error: Error | undefined;
  onSight: (first: number, last: number) => void;
  refresh: () => Promise<void>;
}
/** The answer of a preview operation; `faultOf`: the fault of a field. */
type Preview = { answer: any; error: Error | undefined; isWaiting: boolean; faultOf: (field: string) => string | undefined };

/** `parts`: decoded parts of the path after the page's own. */
type Place = { path: string; parts: string[]; query: URLSearchParams };
/** Of a provider: `person` names it and the account; `key_id` is null. */
interface Session {
  actor: string;
  key_id: string | null;
  person: string | null;
  permissions: string[];
  workspace_id: string;
  workspaces: { id: string; name: string; role: string }[];
  expires_at: string;
}
type WaysIn = { keys: boolean; providers: Named[] };
type PageProps = { session: Session; place: Place };
/** `path` below /console; `help`: a document of the project; `icon`: a name of ui/icon.js. */
interface PageRow {
  path: string;
  title: string;
  help: string;
  icon: string;
  group: string;
  permission: string;
  load: () => Promise<{ Page: (props: PageProps) => any }>;
}
/** `keys`: empty without the permission; `feedOf(null)`: the workspace's feed. */
interface Names {
  lists: { id: string; name: string; default: boolean; source: string | null }[];
  keys: readonly string[];
  listName: (id: string | null | undefined) => string;
  feedOf: (id: string | null) => { kind: FeedKind; id: string; name: string };
}
type PaletteEntry = { kind: string; label: string; note?: string; href: string };
type RuleTab = {
  path: string;
  label: string;
  kind: 'access_rule' | 'waf_rule' | 'smart_firewall_rule';
  actions: readonly string[];
  about: string;
};

type Kind = 'good' | 'warn' | 'bad' | 'accent' | '';
type Option = { value: string; label: string };
type FieldProps = { label: string; hint?: any; fault?: string | undefined };
type Column<T> = { label: string; cell: (row: T) => any; number?: boolean };
/** `width` as in grid-template-columns; `secondary`: hidden on a phone; `sort`: what it sorts by. */
type LongColumn<T> = Column<T> & { width: string; secondary?: boolean; sort?: string };
type Sort = { by: string; descending: boolean };
type RowSelection = {
  has: (key: string | number) => boolean;
  toggle: (index: number, isRange: boolean) => void;
  all: boolean | 'some';
  toggleAll: () => void;
  nameOf: (row: any) => string;
};
type Selected = { keys: ReadonlySet<string | number>; clear: () => void; of: (nameOf: (row: any) => string) => RowSelection };
/** `color`: a variable of tokens.css. */
type Series = { label: string; color: string; values: readonly (number | null)[]; fill?: boolean };
/** Loads a module when it is needed. */
type Load = () => Promise<Record<string, any>>;
/** A row of clients with the same version; `query` filters for them. */
type Version = { key: string; what: any; note: any; clients: number; query: Record<string, string>; isSelected: boolean };
type SetUp = {
  name: string;
  advice: string;
  text: (feed: { address: string; origin: string; path: string }) => string;
  needs?: 'config:read';
};

/** A dialog of a source. */
type SourceWork = 'refresh' | 'pause' | 'resume' | 'accept' | 'discard' | 'delete';
/** A change that the look-up previews. */
type Outlook = 'unblock' | 'never' | 'extend';
type Tone = 'block' | 'part' | 'free' | 'late' | '';
/** `goes`, `isNew`: what the previewed change removes and adds. */
interface PathStep {
  id: string;
  title: string;
  note: string;
  href: string;
  tone: Tone;
  goes?: boolean;
  isNew?: boolean;
  expires?: string;
  at?: string;
}
type Edge = { from: string; to: string; tone: Tone; goes: boolean };
type PathModel = { columns: { title: string; nodes: PathStep[]; none?: string }[]; edges: Edge[]; bundles: Bundle[] };
/** Each of `from` has an edge to each of `to`. */
type Bundle = { from: string[]; to: string[]; kind: string };
type Staying = { feed: PathFeed; because: ExplainedRule[]; subtract: { value: 'on' | 'workspace'; verdict: Verdict } | null };
/** Instants; `since` may be a span such as `1d`. */
type ChangeWindow = {
  since: string;
  until: string | undefined;
  feed: string | undefined;
  kind: string | undefined;
  person?: string | undefined;
  key?: string | undefined;
};
type UsageCount = { name: string; value: number; unit: string };
/** What a form of the look-up opens with. */
type LookupForm =
  | { form: 'allow' | 'split' }
  | { form: 'unblock' | 'block'; value: string; action?: string }
  | { form: 'extend'; ids: number[] };
type RulesForm =
  | { name: 'block' | 'unblock' | 'paste' | 'try' | 'add' | 'order' }
  | { name: 'report'; text?: string }
  | { name: 'delete' | 'edit'; selection: RuleSelection }
  | { name: 'rule' | 'change'; rule: Rule }
  | { name: 'use'; kind: string; expression: string };
/** A condition of the filter: its word, and what it sets in the query. */
type FilterTerm = { word: string; field: string; match?: string; about: string; of?: 'access' };
/** Names that may replace a stretch of the text. */
type Completion = { from: number; to: number; names: RuleName[] };
type Ordered = { rule_ref: string | null; order?: number | null };
/** A pasted word: a target, a host name, or neither. */
type Pasted = { target: string } | { name: string } | { wrong: string };
/** A field of a request as a form offers it; `list`: how several values are separated; `other`: no text field can edit it. */
type SchemaField = {
  field: string;
  label: string;
  hint?: string;
  options?: (string | Option)[];
  maxlength?: number;
  number?: boolean;
  list?: 'words' | 'lines';
};
