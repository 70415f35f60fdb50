/** The simplest implementation of the functions (SPEC D19.5), for plain.ts. */
import { type Bytes, compareBytes, type Plain, toBytes, utf8 } from './plain-values.ts';

type Rest = readonly (Plain | undefined)[];

export function applyPlain(name: string, first: Plain | undefined, rest: Rest): Plain | undefined {
  if (name === 'concat') return concat([first, ...rest]);
  if (first === undefined) return undefined;
  return FUNCTIONS[name](
    first,
    rest.map((value) => value!),
  );
}

const bytes = (value: Bytes): Plain => ({ is: 'bytes', value });
const bool = (value: boolean): Plain => ({ is: 'bool', value });
const text = (value: string): Plain => bytes(utf8(value));
const of = (value: Plain): Bytes => value.value as Bytes;
const latin1 = (value: Plain): string => Buffer.from(of(value)).toString('latin1');
const number = (value: Plain): number => Number(value.value as bigint);

function concat(values: Rest): Plain | undefined {
  const there = values.filter((value) => value !== undefined);
  if (there.length === 0) return undefined;
  return { is: there[0].is, value: there.flatMap((value) => value.value as never[]) } as Plain;
}

const FUNCTIONS: Readonly<Record<string, (first: Plain, rest: readonly Plain[]) => Plain | undefined>> = {
  lower: (s) => bytes(of(s).map((byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte))),
  upper: (s) => bytes(of(s).map((byte) => (byte >= 97 && byte <= 122 ? byte - 32 : byte))),
  starts_with: (s, [start]) => bool(compareBytes(of(s).slice(0, of(start).length), of(start)) === 0),
  ends_with: (s, [end]) => bool(of(s).length >= of(end).length && compareBytes(of(s).slice(of(s).length - of(end).length), of(end)) === 0),
  len: (s) => ({ is: 'int', value: BigInt(of(s).length) }),
  substring: (s, [from, to]) => {
    const place = (value: Plain) => Math.min(Math.max(number(value) < 0 ? of(s).length + number(value) : number(value), 0), of(s).length);
    const [a, b] = [place(from), to === undefined ? of(s).length : place(to)];
    return bytes(b < a ? [] : of(s).slice(a, b));
  },
  remove_bytes: (s, [set]) => bytes(of(s).filter((byte) => !of(set).includes(byte))),
  remove_query_args: (s, names) => {
    const remaining = latin1(s)
      .split('&')
      .filter((part) => !names.some((name) => latin1(name) === part.split('=')[0]));
    return bytes(toBytes(remaining.join('&')));
  },
  url_decode: (s, [options]) => {
    const flags = options === undefined ? '' : latin1(options);
    let value = of(s);
    for (let round = 0; round < (flags.includes('r') ? 10 : 1); round++) value = urlDecode(value, flags.includes('u'));
    return bytes(value);
  },
  decode_base64: (s) => {
    const decoded = Buffer.from(latin1(s), 'base64');
    return bytes(decoded.toString('base64') === latin1(s) ? [...decoded] : []);
  },
  to_string: (v) => (v.is === 'bytes' ? text(addressText(v.value)) : text(String(v.value))),
  cidr: (ip, [v4, v6]) => {
    const count = (value: Plain) => Number(BigInt.asUintN(32, value.value as bigint));
    const total = of(ip).length * 8;
    let remaining = total === 128 ? count(v6) : count(v4);
    if (total === 128 && remaining > 128) remaining = 0;
    else if (total === 32 && remaining !== 0) remaining = 32 - ((32 - (remaining % 32) + 32) % 32);
    const bits = of(ip).flatMap((byte) => [...byte.toString(2).padStart(8, '0')].map(Number));
    const masked = bits.map((bit, i) => (i < remaining ? bit : 0)).join('');
    return bytes((masked.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  },
  json_lookup_string: (s, path) => {
    const found = lookUp(s, path);
    return typeof found === 'string' ? text(found) : undefined;
  },
  json_lookup_integer: (s, path) => {
    const found = lookUp(s, path);
    return typeof found === 'number' && Number.isSafeInteger(found) && !Object.is(found, -0)
      ? { is: 'int', value: BigInt(found) }
      : undefined;
  },
  uuid4: (s) => (of(s).length === 0 ? undefined : text(uuid(of(s)))),
  wildcard_replace: (s, [pattern, replacement, flag]) => {
    const source = Buffer.from(of(pattern)).toString('utf8');
    const regex = [...source]
      .map((c) => (c === '*' ? '([^\\n]*?)' : c === '?' ? '[^\\n]' : c.replace(/[\\^$.|+()[\]{}/]/g, '\\$&')))
      .join('');
    const value = Buffer.from(of(s)).toString('utf8');
    // Invalid UTF-8 is left to the labelled file.
    if (!Buffer.from(value, 'utf8').equals(Buffer.from(of(s)))) return replaceInPrefix(s, regex, flag, latin1(replacement));
    const found = new RegExp(`^${regex}`, flag === undefined || latin1(flag) === 's' ? 'u' : 'iu').exec(value);
    if (found === null) return s;
    return text(expand(Buffer.from(of(replacement)).toString('utf8'), found) + value.slice(found[0].length));
  },
};

/** Replaces before the first invalid UTF-8: no match can reach further. */
function replaceInPrefix(s: Plain, regex: string, flag: Plain | undefined, replacement: string): Plain {
  let end = of(s).length;
  for (; end > 0; end--) {
    const part = Buffer.from(of(s).slice(0, end));
    if (Buffer.from(part.toString('utf8'), 'utf8').equals(part)) break;
  }
  const value = Buffer.from(of(s).slice(0, end)).toString('utf8');
  const found = new RegExp(`^${regex}`, flag === undefined || latin1(flag) === 's' ? 'u' : 'iu').exec(value);
  if (found === null) return s;
  return bytes([...utf8(expand(replacement, found) + value.slice(found[0].length)), ...of(s).slice(end)]);
}

function expand(replacement: string, groups: readonly string[]): string {
  return replacement.replace(/\$\$|\$\{([^}]*)\}|\$(\w+)/g, (matched, braced, bare) => {
    if (matched === '$$') return '$';
    const name = braced ?? bare;
    return /^\d+$/.test(name) ? (groups[Number(name)] ?? '') : '';
  });
}

function urlDecode(value: Bytes, unicode: boolean): Bytes {
  const result: number[] = [];
  const digits = (from: number, count: number): number | null => {
    const part = Buffer.from(value.slice(from, from + count)).toString('latin1');
    return part.length === count && /^[0-9a-f+][0-9a-f]+$/i.test(part) ? Number.parseInt(part.replace('+', '0'), 16) : null;
  };
  for (let i = 0; i < value.length; i++) {
    if (value[i] === 43) result.push(32);
    else if (value[i] !== 37) result.push(value[i]);
    else if (digits(i + 1, 2) !== null) {
      result.push(digits(i + 1, 2)!);
      i += 2;
    } else if (unicode && (value[i + 1] === 117 || value[i + 1] === 85) && digits(i + 2, 4) !== null) {
      const code = digits(i + 2, 4)!;
      result.push(...(code >= 0xd800 && code < 0xe000 ? value.slice(i, i + 6) : utf8(String.fromCharCode(code))));
      i += 5;
    } else result.push(37);
  }
  return result;
}

function addressText(address: Bytes): string {
  if (address.length === 4) return address.join('.');
  if (address.slice(0, 12).join() === '0,0,0,0,0,0,0,0,0,0,255,255') return `::ffff:${address.slice(12).join('.')}`;
  const groups = Array.from({ length: 8 }, (_, i) => (address[2 * i] * 256 + address[2 * i + 1]).toString(16));
  for (let length = 8; length >= 2; length--) {
    for (let at = 0; at + length <= 8; at++) {
      if (groups.slice(at, at + length).every((group) => group === '0'))
        return `${groups.slice(0, at).join(':')}::${groups.slice(at + length).join(':')}`;
    }
  }
  return groups.join(':');
}

/** Only for texts with short numbers and little nesting. */
function lookUp(s: Plain, path: readonly Plain[]): unknown {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(of(s))));
  } catch {
    return undefined;
  }
  for (const step of path) {
    if (step.is === 'int') value = Array.isArray(value) && step.value >= 0n ? value[Number(step.value)] : undefined;
    else {
      const key = Buffer.from(of(step)).toString('utf8');
      value =
        typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, key) ? value[key as never] : undefined;
    }
  }
  return value;
}

const mask64 = (value: bigint) => BigInt.asUintN(64, value);
const mask32 = (value: bigint) => BigInt.asUintN(32, value);
const turn32 = (value: bigint, by: bigint) => mask32((value << by) | (value >> (32n - by)));

function uuid(value: Bytes): string {
  let seed = 0n;
  for (const [i, byte] of value.entries()) {
    seed ^= BigInt(byte) << BigInt(8 * (i % 8));
    seed = mask64((seed << 7n) | (seed >> 57n));
  }
  seed ^= BigInt(value.length);
  const words = [0x61707865n, 0x3320646en, 0x79622d32n, 0x6b206574n];
  for (let i = 0; i < 8; i++) {
    seed = mask64(seed * 6364136223846793005n + 11634580027462260723n);
    words.push(turn32(mask32(((seed >> 18n) ^ seed) >> 27n), (32n - (seed >> 59n)) % 32n));
  }
  words.push(0n, 0n, 0n, 0n);
  const w = [...words];
  const quarter = (a: number, b: number, c: number, d: number) => {
    for (const [x, y] of [
      [16n, 12n],
      [8n, 7n],
    ]) {
      w[a] = mask32(w[a] + w[b]);
      w[d] = turn32(w[d] ^ w[a], x);
      w[c] = mask32(w[c] + w[d]);
      w[b] = turn32(w[b] ^ w[c], y);
    }
  };
  for (let double = 0; double < 6; double++) {
    for (let i = 0; i < 4; i++) quarter(i, 4 + i, 8 + i, 12 + i);
    for (let i = 0; i < 4; i++) quarter(i, 4 + ((i + 1) % 4), 8 + ((i + 2) % 4), 12 + ((i + 3) % 4));
  }
  const random = [0, 1, 2, 3].flatMap((i) => [0n, 8n, 16n, 24n].map((shift) => Number((mask32(w[i] + words[i]) >> shift) & 255n)));
  random[6] = (random[6] & 15) | 64;
  random[8] = (random[8] & 63) | 128;
  const hex = Buffer.from(random).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
