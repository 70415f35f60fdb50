/** The configuration of an enforcing agent (SPEC D13.7 to D13.11): access rules as networks, and expression rules. */
import { createHash } from 'node:crypto';
import { type AddressSet, addressSet, difference } from '@weir/network/address-set.ts';
import { type CidrsV4, type CidrsV6, coalesceV4, coalesceV6 } from '@weir/network/coalesce.ts';
import { renderCidrs } from '@weir/network/render.ts';
import { isoTime } from '../../clock.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { AccessAction, ExpressionRule, GeoTarget, JsonObject, Kind } from '../../rule.ts';
import { rateLimitOf } from '../../signal/rate-limit.ts';
import type { ConfigVariant } from '../document.ts';
import { contentHash, PLACEHOLDER } from '../formats/stamp.ts';
import { type ActivePart, activeParts, nextExpiryOf } from '../index/feed-ranges.ts';
import { MOST_RULES, type Snapshot } from '../index/snapshot.ts';
import { DEFAULT_ENTRY_LIMIT } from '../variant.ts';
import { exceptionsOf, subtractedAddresses } from './content.ts';
import type { OverCap, RenderedDocument } from './render-feed.ts';
import { activeRules } from './render-rules.ts';

interface ConfigParts {
  readonly workspaceId: string;
  readonly asOf: number;
  readonly geo: GeoDatabase;
  readonly guarded: AddressSet | undefined;
}

/**
 * Excludes rules expiring by `asOf` (whole seconds). Addresses, countries and ASNs together cover the networks of the action's feed, with
 * guard rails and subtraction.
 */
export function renderConfig(snapshot: Snapshot, { name }: ConfigVariant, parts: ConfigParts): RenderedDocument | OverCap {
  const { workspaceId, asOf, geo, guarded } = parts;
  const active = activeParts(snapshot.parts, { asOf, family: 'both', guarded }, geo);
  const exceptions = exceptionsOf(snapshot);
  const allowed = exceptions && snapshot.ranges.ranges(active, { role: exceptions, classes: undefined, family: 'both' }, geo);
  const subtracted = subtractedAddresses(allowed, guarded);
  const expand = name === 'expanded';
  const allow = networksOf(active, 'allow', undefined, expand);
  const block = networksOf(active, 'block', subtracted, expand);
  let nextExpiry = nextExpiryOf(active);
  let largest = 0;
  const documents = [...snapshot.stored].map(([kind, { count }]) => {
    const found = activeRules(snapshot, kind, asOf);
    nextExpiry = Math.min(nextExpiry, found.nextExpiry);
    largest = Math.max(largest, count);
    return [kind, found.rules.map(({ rule }) => agentRule(rule as ExpressionRule, workspaceId))] as const;
  });
  const entryCount = allow.count + block.count;
  const facts = { entryCount, entryLimit: DEFAULT_ENTRY_LIMIT, nextExpiry };
  if (entryCount > DEFAULT_ENTRY_LIMIT || largest > MOST_RULES) return { kind: 'too_large', facts, hint: HINT };

  const out = new DocumentText();
  const about = { id: workspaceId, name: snapshot.head.profile.name, description: '' };
  out.text(`{"success":true,"config":{"access_rules":${JSON.stringify(about).slice(0, -1)},"allow":`);
  writeNetworks(out, allow);
  out.text(',"block":');
  writeNetworks(out, block);
  out.text('}');
  for (const [kind, list] of documents) out.text(`,"${plural(kind)}":${JSON.stringify({ rules: list })}`);
  out.text(`,"created_at":"${isoTime(snapshot.head.workspaceCreatedAt)}","updated_at":"`);
  out.stamp();
  out.text('","last_modified":"');
  out.stamp();
  out.text('"}}\n');
  const text = out.end();
  return { kind: 'rendered', facts, text, hash: contentHash(text) };
}

const HINT = 'The agent gets the addresses of all lists in one document: narrow or remove rules.';

const plural = (kind: Kind) => `${kind}s`;

interface AgentNetworks {
  readonly direct: Networks;
  /** Without duplicates; no networks in the variant `names`. */
  readonly countries: readonly (readonly [name: string, Networks])[];
  readonly asns: readonly (readonly [name: string, Networks])[];
  readonly count: number;
}
interface Networks {
  readonly v4: CidrsV4 | null;
  readonly v6: CidrsV6 | null;
}
const NONE: Networks = { v4: null, v6: null };

function networksOf(
  parts: readonly ActivePart[],
  action: AccessAction,
  subtracted: AddressSet | undefined,
  expand: boolean,
): AgentNetworks {
  const set = addressSet([]);
  for (const { active } of parts) active.collectDirect(action, () => set);
  const direct = coalesced(set, subtracted);
  const targets = new Map<string, GeoTarget>();
  for (const { active } of parts)
    active.eachTarget(action, (target) => targets.set(target.kind === 'asn' ? `AS${target.asn}` : target.country, target));
  const named = [...targets].flatMap(([name, target]) => {
    if (!expand) return [{ name, target, networks: NONE }];
    const ranges = addressSet([]);
    parts[0].active.addRanges(ranges, target);
    const networks = coalesced(ranges, subtracted);
    // An agent resolving the name itself would enforce ranges unknown here, or subtracted here.
    return countOf(networks) === 0 ? [] : [{ name, target, networks }];
  });
  const of = (kind: GeoTarget['kind']) => named.filter(({ target }) => target.kind === kind);
  return {
    direct,
    countries: of('country')
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, networks }) => [name, networks]),
    asns: of('asn')
      .sort((a, b) => numberOf(a.target) - numberOf(b.target))
      .map(({ name, networks }) => [name, networks]),
    count: countOf(direct),
  };
}

const numberOf = (target: GeoTarget) => (target.kind === 'asn' ? target.asn : 0);
const countOf = ({ v4, v6 }: Networks) => (v4?.length ?? 0) + (v6?.length ?? 0);

function coalesced(set: AddressSet, subtracted: AddressSet | undefined): Networks {
  const { v4, v6 } = subtracted === undefined ? set : difference(set, subtracted);
  return { v4: coalesceV4(v4), v6: coalesceV6(v6) };
}

function writeNetworks(out: DocumentText, { direct, countries, asns }: AgentNetworks): void {
  const writeNamed = (named: AgentNetworks['countries']) => {
    for (const [index, [name, networks]] of named.entries()) {
      out.text(`${index === 0 ? '' : ','}{"${name}":`);
      out.networks(networks);
      out.text('}');
    }
  };
  out.text('{"asn":[');
  writeNamed(asns);
  out.text('],"country":[');
  writeNamed(countries);
  out.text('],"ips":');
  out.networks(direct);
  out.text('}');
}

class DocumentText {
  readonly #pieces: Uint8Array[] = [];
  readonly #stampsAt: number[] = [];
  #length = 0;

  text(text: string): void {
    this.#push(Buffer.from(text));
  }

  /** Reserves space for the Last-Modified instant. */
  stamp(): void {
    this.#stampsAt.push(this.#length);
    this.text(PLACEHOLDER);
  }

  networks(networks: Networks): void {
    if (countOf(networks) === 0) this.text('[]');
    else this.#push(renderCidrs(networks.v4, networks.v6, { head: '["', separator: '","', tail: '"]' }));
  }

  end(): { bytes: Uint8Array<ArrayBuffer>; stampsAt: readonly number[] } {
    const bytes = new Uint8Array(this.#length);
    let at = 0;
    for (const piece of this.#pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    return { bytes, stampsAt: this.#stampsAt };
  }

  #push(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
  }
}

/**
 * An expression rule in the agent's form, with all texts present. `config` is part of the id: the agent considers rules with equal id,
 * action and expression unchanged.
 */
function agentRule(rule: ExpressionRule, workspaceId: string) {
  const config = agentConfig(rule);
  const revision = createHash('sha256').update(JSON.stringify(config)).digest('hex').slice(0, 8);
  return {
    id: `${rule.ruleRef}@${revision}`,
    name: rule.name ?? rule.ruleRef,
    org_id: workspaceId,
    description: rule.shortDescription ?? rule.reason ?? '',
    action: rule.action,
    expression: rule.expression,
    config,
  };
}

/** Rate limit numbers are strings: the agent requires it. */
function agentConfig({ action, config }: ExpressionRule): JsonObject | null {
  const rateLimit = action === 'ratelimit' ? rateLimitOf(config) : undefined;
  return config === null || rateLimit === undefined ? config : { ...config, rateLimit };
}
