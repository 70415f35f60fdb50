interface AddressBlock {
  network: string;
  addresses: number;
  networks: number;
  rules: number;
  widest_rules: { id: number; target: string; list_name: string | null }[];
}

/** Counts by child network. */
interface AddressMap {
  feed_id: string | null;
  name: string;
  action: 'block' | 'allow';
  entries: number;
  entry_limit: number;
  over_cap: boolean;
  within: string;
  child_prefix: 8 | 16 | 24;
  addresses: number[];
  rules: number[];
  protected: number[];
  never_block: number[];
  widest: AddressBlock[];
  v6: AddressBlock[];
}

type RuleHour = Record<'added' | 'renewed' | 'removed' | 'expired', number>;
interface RuleHistory {
  days: string[];
  lists: { id: string; name: string; rules: (number | null)[] }[];
  others: { lists: number; rules: (number | null)[] };
  hours_from: string;
  hours: RuleHour[];
}
