import { type LineEntry, type LineForm, NOTHING, oneSet, unknownLine, wordsOf } from './line-form.ts';

const IGNORED = new Set(['packets', 'bytes', 'skbmark', 'skbprio', 'skbqueue']);

export const IPSET: LineForm = {
  name: 'ipset save',
  first: /^(create|add)\s+\S+\s+\S/,
  open() {
    const otherSet = oneSet();
    return (line) => {
      const [command, set, value, ...options] = wordsOf(line);
      if (command !== 'add' || value === undefined) return unknownLine(line);
      let [seconds, reason]: (string | undefined)[] = [];
      for (let at = 0; at < options.length; at += 2) {
        const [option, given] = [options[at]!, options[at + 1]];
        if (option === 'nomatch') return [`${value} is an exception (nomatch), and a list has none`];
        if (option === 'timeout') seconds = given;
        else if (option === 'comment') reason = given;
        else if (!IGNORED.has(option)) return [`the option ${option} is not known`];
      }
      if (value.includes(',')) return [`${value} is more than an address`];
      return [otherSet(set!) ?? { value, expires_in: seconds === '0' ? undefined : seconds, reason }];
    };
  },
};

/** With their numbers of values. */
const HARMLESS = new Map(Object.entries({ '--comment': 1, '--reject-with': 1, '-c': 2, '--set-counters': 2, '-w': 0, '--wait': 0 }));
const ENDS = ['-s', '--source', '--src', '-d', '--destination', '--dst'];

export const IPTABLES: LineForm = {
  name: 'iptables-save',
  first: /^(\*(filter|raw|mangle|nat|security)$|(sudo\s+)?ip6?tables\s+-|(\[\d+:\d+\]\s+)?-[AIPN]\s+\S+)/,
  open: () => (line) => {
    const [command, chain, ...words] = wordsOf(line.replace(/^(sudo\s+)?(ip6?tables\s+)(-w\s+)?|^\[\d+:\d+\]\s+/, ''));
    if ((command !== '-A' && command !== '-I') || chain === undefined) return unknownLine(line);
    const options = command === '-I' && /^\d+$/.test(words[0] ?? '') ? words.slice(1) : words;
    return unknownLine(line).length === 0 ? NOTHING : [ruleOf(options)];
  },
};

/** Or its fault; requires options with an address. */
function ruleOf(words: readonly string[]): LineEntry | string {
  const values: string[] = [];
  let [verdict, reason]: (string | undefined)[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const [option, given = ''] = [words[at]!, words[at + 1]];
    if (option === '!') return 'a rule for all but an address is no entry of a list';
    if (ENDS.includes(option)) values.push(given);
    else if (option === '-j' || option === '--jump') verdict = given;
    else if (!HARMLESS.has(option) && !(option === '-m' && given === 'comment')) return `it asks for more than an address: ${option}`;
    if (option === '--comment') reason = given;
    at += HARMLESS.get(option) ?? 1;
  }
  const [value, ...others] = values;
  if (verdict === undefined) return 'a rule without a target (-j) does nothing with the address';
  if (value === undefined || others.length > 0) return 'a rule for an address of both ends is no entry of a list';
  return { value, verdict, reason };
}

const ELEMENTS = /^(?:(?:add|create)\s+element\s+(?:\w+\s+)?\S+\s+(\S+)\s*|define\s+(\S+)\s*=\s*|elements\s*=\s*)\{(.*)$/;
const ELEMENT =
  /^([^\s:]+(?:\s*-\s*[^\s:]+)?|[\da-f:./]+(?:\s*-\s*[\da-f:.]+)?)((?:\s+(?:timeout|expires)\s+\w+|\s+counter\s+packets\s+\d+\s+bytes\s+\d+|\s+comment\s+"[^"]*")*)(?:\s*:\s+(\w+))?$/i;
/** A comment has 128. */
const MOST_ELEMENT = 500;
const SECONDS: Readonly<Record<string, number>> = { w: 604_800, d: 86_400, h: 3600, m: 60, s: 1, ms: 0.001 };

export const NFT: LineForm = {
  name: 'nft list set',
  first:
    /^(table\s+(\w+\s+)?\S+\s*\{|(add|create)\s+(table|set|element)\s|set\s+\S+\s*\{|map\s+\S+\s*\{|elements\s*=|flush\s+(set|ruleset|table)\b|destroy\s+(set|table)\b|define\s+\S+\s*=)/,
  open() {
    const otherSet = oneSet();
    let set = '';
    let isWithin = false;
    return (line) => {
      const content = line.replace(/"[^"]*"|#.*$/g, (part) => (part.startsWith('#') ? '' : part)).trim();
      set = /^(?:set|map)\s+(\S+)\s*\{/.exec(content)?.[1] ?? set;
      const [, added, defined, rest] = isWithin ? [undefined, undefined, undefined, content] : (ELEMENTS.exec(content) ?? []);
      if (rest === undefined) return unknownLine(content);
      set = added ?? defined ?? set;
      const end = rest.replace(/"[^"]*"/g, (quoted) => '_'.repeat(quoted.length)).indexOf('}');
      isWithin = end < 0;
      const elements = (isWithin ? rest : rest.slice(0, end)).match(/(?:"[^"]*"|[^,"])+/g)?.map((each) => each.trim()) ?? [];
      const given = elements.filter((each) => each !== '');
      const fault = given.length === 0 ? undefined : otherSet(set);
      const behind = isWithin ? NOTHING : unknownLine(rest.slice(end + 1));
      return [...(fault === undefined ? given.map(elementOf) : [fault]), ...behind];
    };
  },
};

function elementOf(text: string): LineEntry | string {
  const [, value, options = '', verdict] = text.length > MOST_ELEMENT ? [] : (ELEMENT.exec(text) ?? []);
  if (value === undefined) return `${JSON.stringify(text.slice(0, 60))} is more than an address`;
  const [, span] = /\sexpires\s+(\w+)/.exec(options) ?? /\stimeout\s+(\w+)/.exec(options) ?? [];
  const seconds = span === undefined ? undefined : secondsOf(span);
  if (seconds !== undefined && Number.isNaN(seconds)) return `${span} is no time`;
  const [, reason] = /\scomment\s+"([^"]*)"/.exec(options) ?? [];
  return { value: value.replace(/\s/g, ''), verdict, expires_in: seconds === undefined ? undefined : String(Math.ceil(seconds)), reason };
}

/** Such as `1d2h3m4s5ms`; NaN if invalid. */
const secondsOf = (text: string): number =>
  /^(\d+(ms|[wdhms]))+$/.test(text)
    ? [...text.matchAll(/(\d+)(ms|[wdhms])/g)].reduce((sum, [, count, unit]) => sum + Number(count) * SECONDS[unit!]!, 0)
    : Number.NaN;
