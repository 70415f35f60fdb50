const V4 = /^\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,2})?$/;
const V6 = /^[0-9a-f:.]*:[0-9a-f:.]*(?:\/\d{1,3})?$/i;
const NAME = /^(?=.*[a-z])[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/i;
export const MOST = 20;

/**
 * Targets in pasted text: refanged addresses, with ports, in URLs.
 * @param {string} text
 * @returns {Pasted[]} Each once, in their order, at most MOST.
 */
export function targetsOf(text) {
  const country = codeOf(text.trim());
  if (country !== undefined) return [{ target: country }];
  const words = text
    .replace(/\b(AS|ASN)\s+(?=\d)/gi, 'AS')
    .split(/[\s,;"'<>|]+/)
    .filter((word) => word !== '');
  const asked = words.map(targetOf);
  return [...new Map(asked.map((each) => [JSON.stringify(each), each])).values()].slice(0, MOST);
}

/** @param {string} word @returns {Pasted} */
function targetOf(word) {
  const host = hostOf(word);
  if (V4.test(host) || V6.test(host)) return { target: host };
  const asn = /^asn?:?(\d{1,10})$/i.exec(host);
  if (asn !== null) return { target: `AS${asn[1]}` };
  if (/^[a-z]{2}$/i.test(host)) return { target: host.toUpperCase() };
  return NAME.test(host) ? { name: host } : { wrong: word };
}

/** @param {string} word */
function hostOf(word) {
  const plain = word
    .replaceAll(/[[({](\.|dot)[\])}]/gi, '.')
    .replaceAll(/[[({]:[\])}]/g, ':')
    .replace(/[[({]:\/\/[\])}]/, '://')
    .replace(/[.,:]+$/, (end) => (end === '::' ? end : ''));
  const url = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#]*)/i.exec(plain);
  // A prefix length is not a path.
  const host = url?.[1] ?? (/\/\d{1,3}$/.test(plain) ? plain : plain.replace(/[/?#].*$/, ''));
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(host);
  if (bracketed !== null) return bracketed[1];
  return /^[^:]+:\d{1,5}$/.test(host) ? host.replace(/:\d+$/, '') : host;
}

const NAMES = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });

/** @param {string} code */
export const countryName = (code) => NAMES.of(code) ?? code;

/** @param {string} text */
function codeOf(text) {
  if (text.length < 4 || !/^\p{L}/u.test(text)) return undefined;
  const letters = Array.from({ length: 26 }, (_, i) => String.fromCharCode(65 + i));
  const wanted = text.toLowerCase();
  return letters.flatMap((a) => letters.map((b) => a + b)).find((code) => NAMES.of(code)?.toLowerCase() === wanted);
}
