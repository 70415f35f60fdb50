export const plural = (count: number, one: string, many = `${one}s`): string => (count === 1 ? `1 ${one}` : `${count} ${many}`);

/** For people. Exact below 10^12. */
export function countText(count: number): string {
  if (count < 1e12) return String(count);
  const [digits, exponent] = count.toExponential(1).split('e+');
  return `about ${digits} × 10^${exponent}`;
}
