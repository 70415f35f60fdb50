/**
 * The fields and functions of expressions, by rule kind, as data. Packaged is the enforcement engine's scheme; an operator's file adds to
 * it or replaces parts.
 */
import packaged from './schemes.json' with { type: 'json' };
import { type FunctionSignature, parseSignature } from './signature.ts';
import { parseType, type Type } from './types.ts';

const { kinds, ...packagedFile } = packaged;

/** Rule kinds with an expression: those with fields in the packaged file. */
export type SchemeKind = Exclude<keyof typeof packagedFile, 'functions'>;

/** Names of a kind in messages. */
interface KindWords {
  readonly called: string;
  /** The reason, for kinds without HTTP fields. */
  readonly withoutHttp?: string;
}
const KIND_WORDS: Readonly<Record<SchemeKind, KindWords>> = kinds;
const KINDS = Object.keys(KIND_WORDS) as readonly SchemeKind[];

export interface Field {
  readonly kind: 'field';
  readonly name: string;
  readonly type: Type;
  /** A rule with a response field belongs to the response phase. */
  readonly phase: 'request' | 'response';
}

type Definition = Field | FunctionSignature;

export interface Scheme extends KindWords {
  readonly kind: SchemeKind;
  readonly names: ReadonlyMap<string, Definition>;
  /** Names of other kinds only, for messages. */
  readonly elsewhere: ReadonlyMap<string, Foreign>;
}

/** A name of another kind, with the noun for that kind's rules. */
interface Foreign {
  readonly definition: Definition;
  readonly called: string;
}

export type Schemes = Readonly<Record<SchemeKind, Scheme>>;

const SOURCES: readonly string[] = [...KINDS, 'functions'];
const EXPECTED = `${KINDS.map((kind) => `"${kind}"`).join(', ')} or "functions"`;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*$/;
const MAX_NAME_LENGTH = 128;
/** `any` and `all` belong to the grammar. */
const QUANTIFIERS = new Set(['any', 'all']);

const PACKAGED = build([packagedFile]);

export function packagedSchemes(): Schemes {
  if (Array.isArray(PACKAGED)) throw new Error(PACKAGED.join('\n'));
  return PACKAGED;
}

/**
 * Adds or replaces fields and functions of the packaged schemes, from a file of the same form. A function with a `kind` is for that rule
 * kind only. Returns faults as readable lines.
 */
export function loadSchemes(json: unknown): Schemes | string[] {
  return build([packagedFile, json]);
}

type Names = Record<SchemeKind, Map<string, Definition>>;

function build(files: readonly unknown[]): Schemes | string[] {
  const names = perKind(() => new Map<string, Definition>());
  const faults = files.flatMap((file) => readFile(file, names));
  if (faults.length > 0) return faults;
  return perKind((kind) => ({ kind, ...KIND_WORDS[kind], names: names[kind], elsewhere: namesElsewhere(kind, names) }));
}

function namesElsewhere(kind: SchemeKind, names: Names): Map<string, Foreign> {
  const elsewhere = new Map<string, Foreign>();
  for (const other of KINDS) {
    const { called } = KIND_WORDS[other];
    for (const [name, definition] of names[other]) if (!names[kind].has(name)) elsewhere.set(name, { definition, called });
  }
  return elsewhere;
}

function perKind<T>(make: (kind: SchemeKind) => T): Record<SchemeKind, T> {
  return Object.fromEntries(KINDS.map((kind) => [kind, make(kind)])) as Record<SchemeKind, T>;
}

function readFile(file: unknown, names: Names): string[] {
  if (!isObject(file)) return [`a scheme file must be an object with ${EXPECTED}`];
  const faults = Object.keys(file)
    .filter((key) => !SOURCES.includes(key))
    .map((key) => `${key}: unknown; expected ${EXPECTED}`);
  for (const kind of KINDS) {
    const fields = file[kind] ?? {};
    if (!isObject(fields)) faults.push(`${kind}: must be an object of fields by name`);
    else for (const [name, entry] of Object.entries(fields)) note(readField(name, entry), `${kind}.${name}`, [kind]);
  }
  const functions = file.functions ?? [];
  if (!Array.isArray(functions)) return [...faults, 'functions: must be an array'];
  for (const [index, entry] of functions.entries()) {
    const kind = isObject(entry) ? entry.kind : undefined;
    if (kind !== undefined && !KINDS.includes(kind as SchemeKind))
      faults.push(`functions[${index}]: kind must be one of: ${KINDS.join(', ')}`);
    else note(readFunction(entry), `functions[${index}]`, kind === undefined ? KINDS : [kind as SchemeKind]);
  }
  return faults;

  function note(definition: Definition | string | null, where: string, kinds: readonly SchemeKind[]): void {
    if (typeof definition === 'string') faults.push(`${where}: ${definition}`);
    else if (definition !== null) for (const kind of kinds) names[kind].set(definition.name, definition);
  }
}

function readField(name: string, entry: unknown): Field | string {
  const fault = checkName(name);
  if (fault !== null) return fault;
  if (!isObject(entry) || typeof entry.type !== 'string') return 'must be an object with a "type"';
  const type = parseType(entry.type);
  if (type === null) return `"${entry.type}" is no type; expected Bool, Int, Ip, Bytes, Array(…) or Map(…)`;
  const phase = entry.phase ?? 'request';
  if (phase !== 'request' && phase !== 'response') return 'phase must be one of: request, response';
  return { kind: 'field', name, type, phase };
}

/** Null for built-in functions of the grammar. */
function readFunction(entry: unknown): FunctionSignature | string | null {
  if (!isObject(entry) || typeof entry.name !== 'string') return 'must be an object with "name", "args" and "returns"';
  const { name, args, returns } = entry;
  if (QUANTIFIERS.has(name)) return null;
  const fault = checkName(name);
  if (fault !== null) return `${name}: ${fault}`;
  if (!Array.isArray(args) || !args.every((arg) => typeof arg === 'string')) return `${name}: "args" must be an array of texts`;
  if (typeof returns !== 'string') return `${name}: "returns" must be a type`;
  const signature = parseSignature(name, args, returns);
  return typeof signature === 'string' ? `${name}: ${signature}` : signature;
}

function checkName(name: string): string | null {
  if (name.length > MAX_NAME_LENGTH || !NAME.test(name))
    return 'a name is letters, digits and "_" in parts joined by ".", and begins with no digit';
  if (name.startsWith('not')) return 'a name that begins with "not" would be read as a negation';
  return null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
