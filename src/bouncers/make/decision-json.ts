/** Decisions as bouncers read them (SPEC D14.2). */
import { createHash } from 'node:crypto';
import { formatAddress } from '@weir/network/format.ts';
import type { Network } from '@weir/network/network.ts';
import { type DecisionFilter, ORIGIN, type Scope } from '../decisions.ts';
import { Body } from './body.ts';
import { SEVERAL } from './coverage.ts';
import { isWide, keyAt, type NetworkKey, networkOf } from './network-key.ts';
import type { ToldNetworks } from './told.ts';
import { LONGEST_TOLD } from './told-instants.ts';

/** What the texts of decisions are made with. */
export interface DecisionTexts {
  readonly networks: ToldNetworks;
  /** The names of lists by their number, from 1 on. */
  readonly listNames: readonly string[];
  /** ms */
  readonly now: number;
  readonly filter: DecisionFilter;
}

/** The body of a stream: what is new or told again, and what is gone. Other work is done while it is made. */
export async function streamBody(
  texts: DecisionTexts,
  changes: { readonly changed: Iterable<number>; readonly gone: Iterable<NetworkKey> },
): Promise<Uint8Array> {
  const body = new Body();
  // What is gone changes with the next build.
  const gone = [...changes.gone];
  const write = decisionWriter(texts);
  body.raw('{"new":[');
  for (const index of changes.changed) {
    const key = keyAt(texts.networks, index);
    const text = write.held(index, key);
    if (text === undefined) gone.push(key);
    else body.add(text);
    if (body.isFull) await body.flush();
  }
  body.raw('],"deleted":[');
  for (const key of gone) {
    const text = write.gone(key);
    if (text !== undefined) body.add(text);
    if (body.isFull) await body.flush();
  }
  body.raw(']}');
  return body.end();
}

/** The body of a look-up: these decisions, or null when there is none. Other work is done while it is made. */
export async function heldBody(texts: DecisionTexts, places: Iterable<number>): Promise<Uint8Array> {
  const body = new Body();
  const write = decisionWriter(texts);
  body.raw('[');
  for (const index of places) {
    const text = write.held(index, keyAt(texts.networks, index));
    if (text !== undefined) body.add(text);
    if (body.isFull) await body.flush();
  }
  body.raw(']');
  return body.count === 0 ? new TextEncoder().encode('null') : body.end();
}

function decisionWriter({ networks, listNames, now, filter }: DecisionTexts) {
  // A workspace may have thousands of lists, and a look-up concerns one.
  const scenarios = new Map<number, { readonly text: string; readonly isWanted: boolean }>();
  const scenarioOf = (list: number) => {
    const name = list === 0 ? ORIGIN : listNames[list - 1];
    const scenario = scenarios.get(list) ?? { text: JSON.stringify(name), isWanted: wantsScenario(filter, name) };
    scenarios.set(list, scenario);
    return scenario;
  };
  const durations = new Map<number, string>();
  const text = (key: NetworkKey, duration: string, scenario: string) => {
    const network = networkOf(key);
    const scope = scopeOf(key);
    const value = scope === 'Ip' ? formatAddress(network) : `${formatAddress(network)}/${network.prefix}`;
    return `{"id":${idOf(network, key)},"duration":"${duration}","origin":"${ORIGIN}","scenario":${scenario},"scope":"${scope}","type":"ban","value":"${value}"}`;
  };
  return {
    /** The decision of a network that is held; undefined when it is not wanted. */
    held(index: number, key: NetworkKey): string | undefined {
      const list = networks.lists[index] === SEVERAL ? 0 : networks.lists[index];
      const scenario = scenarioOf(list);
      if (!scenario.isWanted || !filter.scopes.includes(scopeOf(key))) return undefined;
      const until = networks.until[index];
      let duration = durations.get(until);
      if (duration === undefined) {
        duration = durationText(Math.min(until - now / 1000, LONGEST_TOLD));
        durations.set(until, duration);
      }
      return text(key, duration, scenario.text);
    },
    /** The decision of a network that is gone; undefined when its scope is not wanted. */
    gone: (key: NetworkKey): string | undefined => (filter.scopes.includes(scopeOf(key)) ? text(key, GONE, `"${ORIGIN}"`) : undefined),
  };
}

const scopeOf = (key: NetworkKey): Scope => (isWide(key) ? 'Range' : 'Ip');

const wantsScenario = ({ containing, without }: DecisionFilter, name: string): boolean =>
  (containing?.some((part) => name.includes(part)) ?? true) && !without.some((part) => name.includes(part));

/** Every decision ends in half a second: clients expect a fraction, and some take a timeout of 0 for none. */
const GONE = '-1.5s';

/** A duration as Go writes it, such as `3h59m20.5s`, not below 1.5 s; `seconds` of any sign. Clients cut to whole seconds: none is to be lost. */
function durationText(seconds: number): string {
  const whole = Math.max(1, Math.ceil(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return `${hours > 0 ? `${hours}h` : ''}${whole >= 60 ? `${minutes}m` : ''}${whole % 60}.5s`;
}

/** Ids of IPv6 networks begin here: those of IPv4 networks are the address and the prefix length. */
const V6_IDS = 2 ** 40;

/** A number below 2 ** 53 for each network: always the same one for the same network. */
function idOf(network: Network, key: NetworkKey): number {
  if (network.family === 4) return network.address * 64 + network.prefix;
  const digest = createHash('sha256').update(key, 'latin1').digest();
  return V6_IDS + digest.readUIntBE(0, 6);
}
