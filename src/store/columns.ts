import { parseNetwork } from '@weir/network/parse.ts';
import { ACCESS_ACTIONS, type AccessAction, type JsonObject, RULE_ROLES, type RuleRole, type Target } from '../rule.ts';

export const jsonText = (value: JsonObject | null): string | null => (value === null ? null : JSON.stringify(value));

export const actionCode = (action: AccessAction): number => ACCESS_ACTIONS.indexOf(action);
export const actionOf = (code: unknown): AccessAction => ACCESS_ACTIONS[Number(code)];

export const roleOf = (code: number): RuleRole => RULE_ROLES[code];
export const EXCEPTION = RULE_ROLES.indexOf('exception');

export function targetOf(text: string): Target {
  if (/^AS\d+$/.test(text)) return { kind: 'asn', asn: Number(text.slice(2)) };
  if (/^[A-Z]{2}$/.test(text)) return { kind: 'country', country: text };
  const network = parseNetwork(text);
  if (typeof network === 'string') throw new Error(`the store contains an invalid target: ${text}`);
  return { kind: 'ip', network };
}

/** First address × 64 + prefix length. */
export const packV4 = (target: Target): number | null =>
  target.kind === 'ip' && target.network.family === 4 ? target.network.address * 64 + target.network.prefix : null;

/** 17 bytes: first address and prefix length. */
export function packV6(target: Target): Uint8Array | null {
  if (target.kind !== 'ip' || target.network.family !== 6) return null;
  const bytes = new Uint8Array(17);
  const view = new DataView(bytes.buffer);
  target.network.address.forEach((word, i) => {
    view.setUint32(i * 4, word);
  });
  bytes[16] = target.network.prefix;
  return bytes;
}

const [FIRST, LAST] = [Date.parse('0000-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')];
/** Clamps to the range (ms) that both stores and four-digit years support; 0 for NaN. */
export const nearestInstant = (at: number): number => Math.trunc(Math.min(Math.max(at, FIRST), LAST)) || 0;
