/** Decisions as JSON for bouncers (SPEC D14.2). */
import { createHash } from 'node:crypto';
import { formatAddress } from '@weir/network/format.ts';
import type { Network } from '@weir/network/network.ts';
import { type DecisionFilter, LISTS_ORIGIN, ORIGIN, type Scope } from '../decisions.ts';
import { Body } from './body.ts';
import { SEVERAL } from './coverage.ts';
import { LONGEST_LEASE } from './lease.ts';
import { type DecisionKey, isBroad, keyAt, type NetworkKey, nameOf, networkKey, networkOf } from './network-key.ts';
import { decisionKeyAt, type PublishedNetworks } from './published-networks.ts';

export interface DecisionTexts {
  readonly networks: PublishedNetworks;
  /** Names by list number, from 1. */
  readonly listNames: readonly string[];
  /** ms */
  readonly now: number;
  readonly filter: DecisionFilter;
}

/** New and renewed decisions, and deleted ones. Yields to other work. */
export async function streamBody(
  texts: DecisionTexts,
  changes: { readonly changed: Iterable<number>; readonly deleted: Iterable<DecisionKey> },
): Promise<Uint8Array> {
  const body = new Body();
  // The next build changes the deleted ones.
  const deleted = [...changes.deleted];
  const write = decisionWriter(texts);
  body.raw('{"new":[');
  for (const index of changes.changed) {
    const text = write.published(index, keyAt(texts.networks, index));
    if (text === undefined) deleted.push(decisionKeyAt(texts.networks, index));
    else body.add(text);
    if (body.isFull) await body.flush();
  }
  body.raw('],"deleted":[');
  for (const key of deleted) {
    const text = write.deleted(key);
    if (text !== undefined) body.add(text);
    if (body.isFull) await body.flush();
  }
  body.raw(']}');
  return body.end();
}

/** null if there are none. Yields to other work. */
export async function currentBody(texts: DecisionTexts, places: Iterable<number>): Promise<Uint8Array> {
  const body = new Body();
  const write = decisionWriter(texts);
  body.raw('[');
  for (const index of places) {
    const text = write.published(index, keyAt(texts.networks, index));
    if (text !== undefined) body.add(text);
    if (body.isFull) await body.flush();
  }
  body.raw(']');
  return body.count === 0 ? new TextEncoder().encode('null') : body.end();
}

function decisionWriter({ networks, listNames, now, filter }: DecisionTexts) {
  const isNamed = networks.names.length > 0;
  const origin = isNamed ? LISTS_ORIGIN : ORIGIN;
  // Filled on demand: a workspace may have thousands of lists, and a look-up concerns one.
  const scenarios = new Map<number, { readonly text: string; readonly isWanted: boolean }>();
  const scenarioOf = (list: number) => {
    const name = list === 0 ? ORIGIN : listNames[list - 1];
    const scenario = scenarios.get(list) ?? { text: JSON.stringify(name), isWanted: wantsScenario(filter, name) };
    scenarios.set(list, scenario);
    return scenario;
  };
  const wantsOrigin = (of: string) => filter.origins?.includes(of) ?? true;
  const durations = new Map<number, string>();
  const text = (key: NetworkKey, duration: string, from: string, scenario: string) => {
    const network = networkOf(key);
    const scope = scopeOf(key);
    const value = scope === 'Ip' ? formatAddress(network) : `${formatAddress(network)}/${network.prefix}`;
    return `{"id":${idOf(network, key)},"duration":"${duration}","origin":"${from}","scenario":${scenario},"scope":"${scope}","type":"ban","value":"${value}"}`;
  };
  return {
    /** undefined: the filter excludes it. */
    published(index: number, key: NetworkKey): string | undefined {
      const list = networks.lists[index] === SEVERAL ? 0 : networks.lists[index];
      const scenario = scenarioOf(list);
      if (!scenario.isWanted || !filter.scopes.includes(scopeOf(key)) || !wantsOrigin(origin)) return undefined;
      const until = networks.until[index];
      let duration = durations.get(until);
      if (duration === undefined) {
        duration = durationText(Math.min(until - now / 1000, LONGEST_LEASE));
        durations.set(until, duration);
      }
      return text(key, duration, origin, scenario.text);
    },
    /** Uses the list name it was published with; undefined: the filter excludes it. */
    deleted(key: DecisionKey): string | undefined {
      const name = nameOf(key);
      const from = name === '' ? ORIGIN : LISTS_ORIGIN;
      if (!filter.scopes.includes(scopeOf(key)) || !wantsOrigin(from)) return undefined;
      return text(networkKey(key), DELETED_DURATION, from, JSON.stringify(name === '' ? ORIGIN : name));
    },
  };
}

const scopeOf = (key: DecisionKey): Scope => (isBroad(key) ? 'Range' : 'Ip');

const wantsScenario = ({ containing, without }: DecisionFilter, name: string): boolean =>
  (containing?.some((part) => name.includes(part)) ?? true) && !without.some((part) => name.includes(part));

/** Half a second: clients expect a fraction, and some read a timeout of 0 as no timeout. */
const DELETED_DURATION = '-1.5s';

/** A duration in Go's format, such as `3h59m20.5s`, at least 1.5 s. Clients truncate to whole seconds, so half a second is added. */
function durationText(seconds: number): string {
  const total = Math.max(1, Math.ceil(seconds));
  const [hours, minutes] = [Math.floor(total / 3600), Math.floor(total / 60) % 60];
  return `${hours > 0 ? `${hours}h` : ''}${total >= 60 ? `${minutes}m` : ''}${total % 60}.5s`;
}

/** The id of an IPv4 network is its address and prefix length. */
const V6_IDS = 2 ** 40;

/** A stable number below 2 ** 53. */
function idOf(network: Network, key: NetworkKey): number {
  if (network.family === 4) return network.address * 64 + network.prefix;
  const digest = createHash('sha256').update(key, 'latin1').digest();
  return V6_IDS + digest.readUIntBE(0, 6);
}
