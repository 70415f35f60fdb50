/** Where in JSON the entries of a list stand: `prefixes[].ip_prefix`, `values[].properties.addressPrefixes[]`, `asn`. */
import { WeirError } from '../../errors.ts';
import { isObject } from '../../signal/normalize.ts';
import { type Column, columnMemory, type columnOf, type Role } from './columns.ts';
import { isLengthOrMask } from './extent.ts';
import { JUDGED } from './judge.ts';
import { isAddress, type Row, rowOf, textOf } from './row.ts';

/** A name, or every element of an array. */
type Step = string | typeof EACH;
const EACH = Symbol('each element');

/** A path, cut behind its first `[]`: what stands before is read piece by piece. */
export interface Path {
  readonly text: string;
  /** Names before the first `[]`; undefined where the path has none. */
  readonly array: readonly string[] | undefined;
  /** The steps from an element on, or from the whole value. */
  readonly steps: readonly Step[];
  /** Whether one value stands at its end, and not any number, or none. */
  readonly isOne: boolean;
}

/** What an object of the list has to say, or one around it. */
export interface Condition {
  readonly field: string;
  readonly value: string;
}

const PATH = /^(\[\]|[\w-]+(\[\])?)(\.[\w-]+(\[\])?|\[\])*$/;

/** Reads a path. Throws USAGE at what is none. */
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

/** Reads a condition, `name=value`. Throws USAGE at what is none. */
export function readCondition(text: string): Condition {
  const at = text.indexOf('=');
  if (at < 1) throw new WeirError('USAGE', `${JSON.stringify(text)} is no condition: it must be name=value, such as service=CLOUDFRONT`);
  return { field: text.slice(0, at), value: text.slice(at + 1) };
}

/** The rows at a path within a value, or what stands there instead of one. Empty where nothing stands there, or the condition is not met. */
export function* rowsAt(
  value: unknown,
  { steps, text }: Path,
  condition: Condition | undefined,
  column: typeof columnOf = columnMemory(),
): Generator<Row | string> {
  const name = text.split(/[.[\]]+/).findLast((each) => each !== '') ?? '';
  const asked = condition === undefined ? undefined : { ...condition, said: undefined };
  yield* walk(value, steps, asked, { name, column, object: undefined, judged: [] });
}

/** Whether something stands at a path within a value, be it an empty array. */
export const reaches = (value: unknown, { steps }: Pick<Path, 'steps'>): boolean => {
  const [step, ...others] = steps;
  if (step === undefined) return value !== undefined && value !== null;
  if (step === EACH) return Array.isArray(value) && (value.length === 0 || value.some((each) => reaches(each, { steps: others })));
  return isObject(value) && Object.hasOwn(value, step) && reaches(value[step], { steps: others });
};

/** A condition, and what the innermost object around says of it. */
interface Asked extends Condition {
  readonly said: string | undefined;
}

/** Where the end of a path stands. */
interface Around {
  /** The last name of the path. */
  readonly name: string;
  readonly column: typeof columnOf;
  /** The object whose field is at the end; undefined where an element of an array is. */
  readonly object: object | undefined;
  /** What the other objects around say of whether their entries count. */
  readonly judged: Row;
}

function* walk(value: unknown, steps: readonly Step[], asked: Asked | undefined, around: Around): Generator<Row | string> {
  if (value === undefined || value === null) return;
  const [step, ...others] = steps;
  const said =
    isObject(value) && asked !== undefined && Object.hasOwn(value, asked.field) ? { ...asked, said: String(value[asked.field]) } : asked;
  if (step === undefined) {
    if (said === undefined || said.said === said.value) yield rowOfLeaf(value, around);
  } else if (step === EACH) {
    if (Array.isArray(value)) for (const each of value) yield* walk(each, others, said, { ...around, object: undefined });
    else yield 'here stands no array';
  } else if (isObject(value)) {
    const isLast = others.length === 0 && !isObject(value[step]);
    const judged = isLast ? around.judged : [...around.judged, ...rowOf(value, around.column).filter(([{ role }]) => JUDGED.has(role))];
    if (Object.hasOwn(value, step)) yield* walk(value[step], others, said, { ...around, object: value, judged });
  } else yield 'here stands no object';
}

/**
 * What stands at the end of a path: an object with its fields, or a text or a number. This is the target of its object, of which the fields
 * that may change what is blocked count (SPEC D41.21).
 */
function rowOfLeaf(value: unknown, { name, column, object, judged }: Around): Row | string {
  if (isObject(value)) return [...rowOf(value, column), ...judged];
  if (typeof value !== 'string' && typeof value !== 'number') return 'this is neither text nor an object';
  const own = column(name);
  const fields = object === undefined ? [] : rowOf(object, column).filter(([other, cell]) => other.name !== name && decides(other, cell));
  const target: Column = own.role === 'asn' ? own : { ...own, role: fields.length > 0 ? 'address' : 'value', family: undefined };
  return [[target, value], ...fields, ...judged];
}

/** Roles of fields that change what the one beside them blocks. Other addresses are description. */
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
