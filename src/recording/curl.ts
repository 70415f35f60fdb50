/** Reads a `curl` command line as a request, without fetching or reading files. */
import { type ByteString, encodeText } from '@weir/expression/bytes.ts';
import { addHeader, type Exchange, type Headers } from './exchange.ts';

/** Meaning of options with a value; `other` is skipped. */
type Take = 'method' | 'header' | 'data' | 'form' | 'agent' | 'referer' | 'cookie' | 'user' | 'url' | 'other';
const VALUED: Readonly<Record<string, Take>> = {
  '-X': 'method',
  '--request': 'method',
  '-H': 'header',
  '--header': 'header',
  '-d': 'data',
  '--data': 'data',
  '--data-raw': 'data',
  '--data-binary': 'data',
  '--data-ascii': 'data',
  '--data-urlencode': 'form',
  '-A': 'agent',
  '--user-agent': 'agent',
  '-e': 'referer',
  '--referer': 'referer',
  '-b': 'cookie',
  '--cookie': 'cookie',
  '-u': 'user',
  '--user': 'user',
  '--url': 'url',
  ...Object.fromEntries(
    [
      '-o',
      '--output',
      '-m',
      '--max-time',
      '--connect-timeout',
      '-w',
      '--write-out',
      '-x',
      '--proxy',
      '--retry',
      '--resolve',
      '--cacert',
      '-E',
      '--cert',
      '--key',
      '-c',
      '--cookie-jar',
      '-T',
      '--upload-file',
      '-F',
      '--form',
    ].map((option): [string, Take] => [option, 'other']),
  ),
};

/** Returns a fault as text. */
export function readCurl(line: string): Exchange | string {
  const words = splitWords(line);
  if (typeof words === 'string') return words;
  const headers: Headers = new Map();
  const data: string[] = [];
  let method: string | undefined;
  let url: string | undefined;
  let asQuery = false;
  for (let i = 1; i < words.length; i++) {
    const [option, attached] = splitOption(words[i]);
    if (!words[i].startsWith('-')) {
      url ??= words[i];
      continue;
    }
    const take = VALUED[option];
    if (take === undefined) {
      if (option === '-G' || option === '--get') asQuery = true;
      else if (option === '-I' || option === '--head') method ??= 'HEAD';
      else if (option === '--compressed') addHeader(headers, 'accept-encoding', 'deflate, gzip, br, zstd');
      continue;
    }
    const value = attached ?? words[++i];
    if (value === undefined) return `${option} needs a value`;
    if ((take === 'data' || take === 'form') && value.startsWith('@')) return 'data that curl reads from a file are not known here';
    if (take === 'method') method = value;
    else if (take === 'url') url ??= value;
    else if (take === 'data') data.push(value);
    else if (take === 'form') data.push(encodeForm(value));
    else if (take === 'user') addHeader(headers, 'authorization', `Basic ${btoa(encodeText(value))}`);
    else if (take === 'agent') addHeader(headers, 'user-agent', encodeText(value));
    else if (take === 'referer' || take === 'cookie') addHeader(headers, take, encodeText(value));
    else if (take === 'header') {
      const colon = value.indexOf(':');
      if (colon > 0) addHeader(headers, encodeText(value.slice(0, colon)), encodeText(value.slice(colon + 1).trim()));
    }
  }
  if (url === undefined) return 'the command line names no address';
  return exchangeOf(url, method, headers, data.length === 0 ? undefined : encodeText(data.join('&')), asQuery);
}

function exchangeOf(url: string, method: string | undefined, headers: Headers, body: ByteString | undefined, asQuery: boolean): Exchange {
  let target = encodeText(/^[a-z]+:\/\//i.test(url) ? url : `http://${url}`);
  if (asQuery && body !== undefined) target += `${target.includes('?') ? '&' : '?'}${body}`;
  const sent = asQuery ? undefined : body;
  if (!headers.has('host')) addHeader(headers, 'host', /^[a-z]+:\/\/(?:[^@/]*@)?([^/?#]*)/i.exec(target)![1]);
  if (!headers.has('accept')) addHeader(headers, 'accept', '*/*');
  if (sent !== undefined) {
    if (!headers.has('content-type')) addHeader(headers, 'content-type', 'application/x-www-form-urlencoded');
    if (!headers.has('content-length')) addHeader(headers, 'content-length', String(sent.length));
  }
  // curl's User-Agent depends on its version.
  const allHeaders = headers.has('user-agent');
  return { method: method ?? (sent === undefined ? 'GET' : 'POST'), target, headers, allHeaders, named: [], body: sent ?? '' };
}

/** `-XPOST` is `-X POST`. */
function splitOption(word: string): [option: string, attached: string | undefined] {
  if (/^-[A-Za-z]./.test(word) && Object.hasOwn(VALUED, word.slice(0, 2))) return [word.slice(0, 2), word.slice(2)];
  return [word, undefined];
}

function encodeForm(value: string): string {
  const equals = value.indexOf('=');
  return equals === -1 ? encodeURIComponent(value) : `${value.slice(0, equals + 1)}${encodeURIComponent(value.slice(equals + 1))}`;
}

const PIECE = /\\\r?\n|\s+|'([^']*)'|\$'([^'\\]*(?:\\.[^'\\]*)*)'|"([^"\\]*(?:\\[\s\S][^"\\]*)*)"|\\([\s\S])|([^\s'"\\$]+|\$)/gy;
const ANSI: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '\\': '\\', "'": "'", '"': '"' };

/** Splits one command as a shell does; variables are not expanded. */
function splitWords(line: string): string[] | string {
  const words: string[] = [];
  let word: string | null = null;
  let at = 0;
  for (const found of line.matchAll(PIECE)) {
    at = found.index + found[0].length;
    const [token, single, ansi, double, escaped, plain] = found;
    if (single === undefined && ansi === undefined && double === undefined && escaped === undefined && plain === undefined) {
      if (word !== null && !token.startsWith('\\')) {
        words.push(word);
        word = null;
      }
      continue;
    }
    word ??= '';
    if (single !== undefined) word += single;
    else if (ansi !== undefined)
      word += ansi.replace(/\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|(.))/gi, (_, hex, code, letter) =>
        hex || code ? String.fromCharCode(Number.parseInt(hex ?? code, 16)) : (ANSI[letter] ?? letter),
      );
    else if (double !== undefined) word += double.replace(/\\(\r?\n)/g, '').replace(/\\([$`"\\])/g, '$1');
    else word += escaped ?? plain;
  }
  if (at < line.length) return 'a quote of the command line is not closed';
  if (word !== null) words.push(word);
  return words;
}
