const CODINGS = ['identity', 'gzip'] as const;
type Coding = (typeof CODINGS)[number];

const MEMBER = /^[\t ]*([!#$%&'*+.^_`|~\w-]+)[\t ]*(?:;[\t ]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[\t ]*)?$/i;

/**
 * RFC 9110, 12.5.3: gzip if accepted and not less preferred than identity; else identity, even if nothing is acceptable. Ignores malformed
 * members.
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
  // Identity is always acceptable, but preferred only if named.
  const identity = weights.get('identity') ?? 0;
  return gzip > 0 && gzip >= identity ? 'gzip' : 'identity';
}

/** Precomputed for the usual headers of appliances and libraries. */
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
