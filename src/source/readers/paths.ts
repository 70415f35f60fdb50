/** `prefixes[].ip_prefix`, `values[].properties.addressPrefixes[]`, `asn`. */
import { WeirError } from '../../errors.ts';
import { isObject } from '../../signal/normalize.ts';
import { type Column, columnMemory, type columnOf, type Role } from './columns.ts';
import { isLengthOrMask } from './extent.ts';
import { JUDGED } from './judge.ts';
import { isAddress, type Row, rowOf, textOf } from './row.ts';

type Step = string | typeof EACH;
const EACH = Symbol('each element');

/** The part before the first `[]` is read incrementally. */
export interface Path {
  readonly text: string;
  readonly array: readonly string[] | undefined;
  /** Steps from an element, or from the top-level value. */
  readonly steps: readonly Step[];
  readonly isOne: boolean;
}

export interface Condition {
  /** A member of an enclosing object, or a member of its member: `event.kind`. */
  readonly field: string;
  readonly value: string;
}

const PATH = /^(\[\]|[\w-]+(\[\])?)(\.[\w-]+(\[\])?|\[\])*$/;

/** Throws USAGE if invalid. */
export function readPath(text: string): Path {
  if (!PATH.test(text) || text.length > 200)
    throw new WeirError(
      'USAGE',
      `${JSON.stringify(text)} is no path: names, joined by dots, with [] behind arrays, such as prefixes[].ip_prefix`,
    );
  const steps = [...text.matchAll(/\[\]|[\w-]+/g)].map(([step]) => (step === '[]' ? EACH : step));
  const at = steps.indexOf(EACH);
  const within = steps.slice(at + 1);
  const isOne = !within.includes(EACH);
  return at < 0 ? { text, array: undefined, steps, isOne } : { text, array: steps.slice(0, at) as string[], steps: within, isOne };
}

/** Parses `name=value`. Throws USAGE if invalid. */
export function readCondition(text: string): Condition {
  const at = text.indexOf('=');
  if (at < 1) throw new WeirError('USAGE', `${JSON.stringify(text)} is no condition: it must be name=value, such as service=CLOUDFRONT`);
  return { field: text.slice(0, at), value: text.slice(at + 1) };
}

/** Or faulty values; empty without a value or with an unmet condition. */
export function* rowsAt(
  value: unknown,
  { steps, text }: Path,
  condition: Condition | undefined,
  column: typeof columnOf = columnMemory(),
): Generator<Row | string> {
  const name = text.split(/[.[\]]+/).findLast((each) => each !== '') ?? '';
  const asked = condition === undefined ? undefined : { ...condition, state: undefined };
  yield* walk(value, steps, asked, { name, column, object: undefined, judged: [] });
}

export const reaches = (value: unknown, { steps }: Pick<Path, 'steps'>): boolean => {
  const [step, ...others] = steps;
  if (step === undefined) return value !== undefined && value !== null;
  if (step === EACH) return Array.isArray(value) && (value.length === 0 || value.some((each) => reaches(each, { steps: others })));
  return isObject(value) && Object.hasOwn(value, step) && reaches(value[step], { steps: others });
};

interface Asked extends Condition {
  readonly state: string | undefined;
}

/** The member with this name, else the member of a member: `a.b`. */
function memberAt(value: unknown, name: string): unknown {
  if (!isObject(value)) return undefined;
  if (Object.hasOwn(value, name)) return value[name];
  const dot = name.indexOf('.');
  const first = name.slice(0, dot);
  return dot > 0 && Object.hasOwn(value, first) ? memberAt(value[first], name.slice(dot + 1)) : undefined;
}

interface Around {
  readonly name: string;
  readonly column: typeof columnOf;
  /** The object with the final field; undefined for an array element. */
  readonly object: object | undefined;
  /** Verdicts of the other enclosing objects. */
  readonly judged: Row;
}

function* walk(value: unknown, steps: readonly Step[], asked: Asked | undefined, around: Around): Generator<Row | string> {
  if (value === undefined || value === null) return;
  const [step, ...others] = steps;
  const member = asked && memberAt(value, asked.field);
  const state = asked === undefined || member === undefined ? asked : { ...asked, state: String(member) };
  if (step === undefined) {
    if (state === undefined || state.state === state.value) yield rowOfLeaf(value, around);
  } else if (step === EACH) {
    if (Array.isArray(value)) for (const each of value) yield* walk(each, others, state, { ...around, object: undefined });
    else yield 'there is no array here';
  } else if (isObject(value)) {
    const isLast = others.length === 0 && !isObject(value[step]);
    const judged = isLast ? around.judged : [...around.judged, ...rowOf(value, around.column).filter(([{ role }]) => JUDGED.has(role))];
    if (Object.hasOwn(value, step)) yield* walk(value[step], others, state, { ...around, object: value, judged });
  } else yield 'there is no object here';
}

/** An object with its fields, or a scalar: the target of its object, with its significant fields (SPEC D41.21). */
function rowOfLeaf(value: unknown, { name, column, object, judged }: Around): Row | string {
  if (isObject(value)) return [...rowOf(value, column), ...judged];
  if (typeof value !== 'string' && typeof value !== 'number') return 'this is neither text nor an object';
  const own = column(name);
  const fields = object === undefined ? [] : rowOf(object, column).filter(([other, cell]) => other.name !== name && decides(other, cell));
  const target: Column = own.role === 'asn' ? own : { ...own, role: fields.length > 0 ? 'address' : 'value', family: undefined };
  return [[target, value], ...fields, ...judged];
}

/** Other addresses are description. */
const DECIDING: ReadonlySet<Role> = new Set([
  ...JUDGED,
  ...(['first', 'start', 'last', 'mask', 'wildcard', 'length', 'size', 'measure'] as const),
  ...(['type', 'sort', 'instant', 'lifetime', 'expiry', 'unit'] as const),
]);
const decides = ({ role }: Column, cell: unknown): boolean =>
  DECIDING.has(role) ||
  // An end may also be one of time.
  (role === 'end' && isAddress(textOf(cell))) ||
  ((role === 'network' || role === 'route') && isLengthOrMask(textOf(cell)));
