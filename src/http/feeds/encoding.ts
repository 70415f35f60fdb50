/** The content codings of a feed. */
const CODINGS = ['identity', 'gzip'] as const;
type Coding = (typeof CODINGS)[number];

const MEMBER = /^[\t ]*([!#$%&'*+.^_`|~\w-]+)[\t ]*(?:;[\t ]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[\t ]*)?$/i;

/**
 * The coding to send for an Accept-Encoding header (RFC 9110, 12.5.3): gzip where it is accepted and identity is not preferred to
 * it, else identity, also where nothing is acceptable, as the RFC advises. Members that cannot be read do not count.
 */
export function negotiateCoding(acceptEncoding: string | undefined): Coding {
  if (acceptEncoding === undefined) return 'identity';
  return USUAL.get(acceptEncoding) ?? negotiate(acceptEncoding);
}

function negotiate(acceptEncoding: string): Coding {
  const weights = new Map<string, number>();
  for (const member of acceptEncoding.split(',')) {
    const [, name, weight = '1'] = MEMBER.exec(member) ?? [];
    if (name !== undefined) weights.set(name.toLowerCase(), Number(weight));
  }
  const gzip = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0;
  // Identity is always acceptable, but is preferred only when it is named.
  const identity = weights.get('identity') ?? 0;
  return gzip > 0 && gzip >= identity ? 'gzip' : 'identity';
}

/** What appliances and libraries send with every poll, judged once. */
const USUAL: ReadonlyMap<string, Coding> = new Map(
  [
    'gzip',
    'identity',
    'gzip, deflate',
    'gzip,deflate',
    'deflate, gzip',
    'gzip, deflate, br',
    'gzip, deflate, br, zstd',
    'deflate, gzip, br, zstd',
  ].map((header) => [header, negotiate(header)]),
);
