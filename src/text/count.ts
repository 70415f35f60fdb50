/** A number of things: `1 rule`, `2 rules`. */
export const plural = (count: number, one: string, many = `${one}s`): string => (count === 1 ? `1 ${one}` : `${count} ${many}`);

/**
 * A count for people, who do not read 1.2e+24: addresses of IPv6 are more than digits are good for. Up to a million million it is exact.
 */
export function countText(count: number): string {
  if (count < 1e12) return String(count);
  const [digits, exponent] = count.toExponential(1).split('e+');
  return `about ${digits} × 10^${exponent}`;
}
