/** Access rules of web servers and TCP wrappers. */
import { networkOfOctets } from '../notation.ts';
import { clearVerdictOf, verdictOf } from '../verdict.ts';
import { type LineForm, NOTHING, unknownLine } from './line-form.ts';

export const NGINX: LineForm = {
  name: 'nginx deny',
  first: /^(deny|allow)\s+[^\s;]+\s*;/,
  open: () => (line) => {
    const [, verdict, value] = /^(deny|allow)\s+([^\s;]+)\s*;\s*(?:#.*)?$/.exec(line) ?? [];
    if (value === undefined) return unknownLine(line);
    return verdict === 'allow' && value === 'all' ? NOTHING : [{ value, verdict }];
  },
};

export const NGINX_GEO: LineForm = {
  name: 'nginx geo',
  first: /^(geo\s+\$|(default|[\da-f.:]+(\/\d+|-[\d.]+)?)\s+("[^"]*"|[^\s;,]+)\s*;$)/i,
  open: () => (line) => {
    const [, value, quoted] = /^([^\s;]+)\s+(?=\S)("[^"]*"|[^\s;]*)\s*;\s*(?:#.*)?$/.exec(line) ?? [];
    const setting = quoted?.replace(/"/g, '');
    if (value === 'proxy') return NOTHING;
    if (value === undefined || setting === undefined) return unknownLine(line);
    const isNothing = setting === '0' || setting === '';
    if (value === 'default') return isNothing ? NOTHING : [`all other addresses have the value ${setting}: a list cannot express that`];
    if (value === 'delete' || value === 'include') return [`${value} is about more than this line`];
    return [isNothing ? { passed: 'its value is 0' } : { value, verdict: clearVerdictOf(setting) && setting }];
  },
};

const partOf = (value: string): string => networkOfOctets(value) ?? value;

export const APACHE: LineForm = {
  name: 'Apache access',
  first:
    /^(<(RequireAll|RequireAny|RequireNone|Limit|LimitExcept|Files|FilesMatch|Directory|Location)\b|Order\s+(allow|deny)|(Deny|Allow)\s+from\s|Require\s+(not\s+)?(ip|all)\s)/i,
  open() {
    /** Within RequireNone, `Require ip` excludes the address. */
    let isNone = false;
    return (line) => {
      isNone = /^<(\/?)RequireNone>/i.test(line) ? !line.startsWith('</') : isNone;
      const [, word, not, values] = /^(Deny\s+from|Allow\s+from|Require\s+(not\s+)?ip)\s+(.*)$/i.exec(line) ?? [];
      if (word === undefined) return unknownLine(line);
      const isBlock = /^deny/i.test(word) || (/^require/i.test(word) && (not !== undefined) !== isNone);
      if (!isBlock && values === 'all') return NOTHING;
      return values!.split(/\s+/).map((value) => ({ value: partOf(value), verdict: isBlock ? 'deny' : 'allow' }));
    };
  },
};

export const HOSTS_DENY: LineForm = {
  name: 'hosts.deny',
  first: /^[a-z@][\w@.-]*([,\s]+[\w@.-]+)*\s*:\s*(ALL\b|\[|\d{1,3}\.|\.\w)/i,
  open: (file) => (line) => {
    const [, clients, option] = /^[\w@.-]+(?:[\s,]+[\w@.-]+)*\s*:\s*(?=\S)((?:\[[^\]]*\]|[^[:])+)(?::\s*(.*))?$/.exec(line) ?? [];
    if (clients === undefined || line.endsWith('\\')) return [`this is no line of hosts.deny: ${JSON.stringify(line.slice(0, 60))}`];
    if (/\bEXCEPT\b/.test(clients)) return ['a line with EXCEPT is no entry of a list'];
    // Equal lines in hosts.allow and hosts.deny.
    const verdict = option?.trim() ?? (/(^|\/)hosts\.allow$/.test(file) ? 'allow' : undefined);
    if (verdict !== undefined && !/^(allow|deny)$/i.test(verdict)) return [`the option ${verdict.slice(0, 40)} is neither allow nor deny`];
    const values = clients.split(/[\s,]+/).filter((value) => value !== '');
    // `Connect:198.51.100.7 OK` of sendmail.
    const word = values.find((each) => each !== 'ALL' && verdictOf(each) !== undefined);
    if (word !== undefined) return [`${word} is no client: this is a line of another program`];
    return values.map((value) => ({ value: partOf(value.replace(/^\[(.*)\]/, '$1')), verdict }));
  },
};
