import { networkOfOctets } from '../notation.ts';
import { clearVerdictOf, verdictAmongWords, verdictOf } from '../verdict.ts';
import { type LineForm, NOTHING, unknownLine } from './line-form.ts';

const P2P_LINE = /^(.*):\s*((?:\d{1,3}\.){3}\d{1,3})\s*-\s*((?:\d{1,3}\.){3}\d{1,3})$/;

export const PEER_GUARDIAN: LineForm = {
  name: 'PeerGuardian',
  first: P2P_LINE,
  open: () => (line) => {
    const [, reason, first, last] = P2P_LINE.exec(line) ?? [];
    return [
      first === undefined ? `this is no line of PeerGuardian: ${JSON.stringify(line.slice(0, 60))}` : { value: `${first}-${last}`, reason },
    ];
  },
};

export const CDB: LineForm = {
  name: 'CDB list',
  first: /^("[\da-f.:/]+":|(\d{1,3}\.){1,3}:|\d{1,3}(\.\d{1,3}){3}(\/\d+)?:(?!\d))/i,
  open: () => (line) => {
    const [, quoted, bare, after = ''] = /^(?:"([^"]*)"|([\d./]+)):(.*)$/.exec(line) ?? [];
    const key = quoted ?? bare;
    if (key === undefined) return ['this is not a line of a CDB list (IPv6 addresses must be quoted)'];
    if (unknownLine(after).length > 0) return ['this line has two addresses: a CDB list has one, and its value'];
    const text = after.replace(/^"(.*)"$/, '$1').trim();
    const verdict = clearVerdictOf(text) && text;
    return [
      { value: (key.endsWith('.') ? networkOfOctets(key) : undefined) ?? key, verdict, reason: verdict === undefined ? text : undefined },
    ];
  },
};

const YAML_KEY = /^([\w-]+|"[^"]*"):$/;

export const YAML: LineForm = {
  name: 'YAML list',
  first: /^(---|-\s+\S.*|[\w-]+:|"[^"]*":)$/,
  open() {
    const keys: string[] = [];
    return (line) => {
      const content = line.replace(/\s#.*$/, '').trim();
      const key = YAML_KEY.exec(content)?.[1];
      if (key !== undefined) keys.push(key);
      if (key !== undefined || /^(---|\.\.\.|%YAML.*|[\w-]+:\s*\[\s*\])$/.test(content)) return NOTHING;
      if (/^[\w-]+:\s/.test(content)) return unknownLine(content);
      const [, single, double, bare] = /^-\s+(?:'([^']*)'|"([^"]*)"|([^'"[{&*!|>]\S*))$/.exec(content) ?? [];
      const value = single ?? double ?? bare;
      if (value === undefined) return [`this is no text of a YAML list: ${JSON.stringify(content.slice(0, 60))}`];
      if (keys.length > 1) return [`this is under "${keys.at(-1)}", but earlier entries are under "${keys[0]}": give one list`];
      const name = keys[0] ?? '';
      return [{ value, verdict: verdictOf(name) === undefined ? verdictAmongWords(name) : name }];
    };
  },
};
