/** Never an error; unusable parts are truncated or ignored with a warning (SPEC D40.12). */
import { parsedJson } from '../../json/json.ts';
import { type JsonObject, LEVELS, type Level } from '../../rule.ts';
import { LIMITS } from '../../signal/limits.ts';
import { isObject } from '../../signal/normalize.ts';
import { ENVELOPES } from '../../signal/schema.ts';
import { compile } from '../../signal/validate.ts';
import type { Role } from './columns.ts';
import { isGiven, type Row } from './row.ts';

export interface Description {
  readonly reason: string | undefined;
  readonly name: string | undefined;
  readonly labels: JsonObject | undefined;
  readonly config: JsonObject | undefined;
}

/** Without values; undefined: the service judges instead. */
export type Warn = ((warning: string) => void) | undefined;

const ROLES: readonly Role[] = ['reason', 'name', 'labels', 'config', 'confidence', 'severity'];
const { labels: LABELS, rule: RULE } = ENVELOPES.access_rule.properties;
const faultsOf = { labels: compile(LABELS), config: compile(RULE.properties.config) };

export function describe(row: Row, labels: JsonObject, warn: Warn): Description {
  const cells: Partial<Record<Role, unknown>> = {};
  let isSilent = true;
  // Exact names win over others.
  for (const [{ role, base }, value] of row)
    if (ROLES.includes(role) && isGiven(value) && (cells[role] === undefined || base === role)) {
      cells[role] = value;
      isSilent = false;
    }
  if (isSilent) return { reason: undefined, name: undefined, labels: orNone(labels), config: undefined };
  const cell = (role: Role) => cells[role];
  const config = configOf(cell('config'));
  const levels = { ...level('confidence'), ...level('severity') };
  const own = cell('labels') === undefined ? undefined : labelsOf(cell('labels'));
  return {
    reason: text('reason', LIMITS.text),
    name: text('name', LIMITS.name),
    labels: fitting('labels', own && { ...labels, ...own }) ?? orNone(labels),
    config: fitting('config', orNone({ ...config, ...levels })) ?? orNone(levels),
  };

  function text(role: 'reason' | 'name', most: number): string | undefined {
    const value = cell(role);
    if (value === undefined) return undefined;
    const full = typeof value === 'object' ? JSON.stringify(value) : String(value);
    const clean = full.toWellFormed().replaceAll('\0', '');
    const characters = clean.length > most ? Array.from(clean) : [];
    if (characters.length <= most) return clean === '' ? undefined : clean;
    if (warn === undefined) return clean;
    warn(`${role} is cut to ${most} characters`);
    return characters.slice(0, most).join('');
  }

  /** Accepts words; confidence also a number from 0 to 100. */
  function level(role: 'confidence' | 'severity'): JsonObject {
    const value = cell(role) ?? config[role];
    if (!isGiven(value)) return {};
    const word = String(value).trim().toLowerCase();
    const known =
      LEVELS.find((each) => each === word) ??
      (role === 'confidence' && /^\d+(\.0+)?%?$/.test(word) ? levelOf(Number.parseInt(word, 10)) : undefined);
    if (known !== undefined || warn === undefined) return { [role]: known ?? word };
    const allowed = role === 'confidence' ? ', or a number from 0 to 100' : '';
    warn(`${role} is left out: it must be one of ${LEVELS.join(', ')}${allowed}`);
    delete config[role];
    return {};
  }

  function configOf(value: unknown): JsonObject {
    const found = typeof value === 'string' ? parsedJson(value) : value;
    if (isObject(found)) return { ...found } as JsonObject;
    if (value !== undefined) warn?.('config is left out: it must be a JSON object');
    return {};
  }

  function fitting(field: 'labels' | 'config', value: JsonObject | undefined): JsonObject | undefined {
    const [fault] = value === undefined || warn === undefined ? [] : faultsOf[field](value);
    if (fault !== undefined) warn?.(`${field} is left out: it ${fault.message}`);
    return fault === undefined ? value : undefined;
  }
}

/** From 0 to 100, like STIX 2.1, appendix A: low up to 29, medium up to 69; undefined for other values. */
export function levelOf(confidence: unknown): Exclude<Level, 'critical'> | undefined {
  if (typeof confidence !== 'number' || !(confidence >= 0 && confidence <= 100)) return undefined;
  return confidence < 30 ? 'low' : confidence < 70 ? 'medium' : 'high';
}

/** An object, or its JSON in a CSV cell; texts and lists become the label `tags`. */
function labelsOf(value: unknown): JsonObject {
  const found = (typeof value === 'string' ? parsedJson(value) : undefined) ?? value;
  return (isObject(found) ? found : { tags: found }) as JsonObject;
}

function orNone(fields: JsonObject): JsonObject | undefined {
  for (const _ in fields) return fields;
  return undefined;
}
