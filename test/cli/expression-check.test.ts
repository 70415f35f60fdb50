/** `weir expression check`, as a rule author runs it. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { command } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { weir } from '../support/weir.ts';

const folder = temporaryFolder({ after });
let written = 0;
const file = (content: string | Uint8Array): string => {
  written += 1;
  const path = join(folder, `rule-${written}.txt`);
  writeFileSync(path, content);
  return path;
};
/** Runs it with files and expressions as arguments, or as a process where there is an `input`. */
const check = (args: readonly string[], input?: string | Uint8Array, settings: Record<string, string> = {}) => {
  const [words, environment] = [['expression', 'check', ...args], { DATA_DIR: join(folder, 'data'), ...settings }];
  return input === undefined ? command(words, environment) : weir(words, environment, input);
};
const WAF = ['--kind', 'waf_rule'];
const SMART = ['--kind', 'smart_firewall_rule'];

test('D1.9 expression check: a caret under the fault, exit 1; the page shows it so', async () => {
  const { code, stdout, stderr } = await check(WAF, 'http.request.path ends_with ".html"\n');
  assert.deepEqual([code, stderr], [1, '']);
  const page = readFileSync(new URL('../../docs/expressions.md', import.meta.url), 'utf8');
  assert.ok(page.includes(`\`\`\`\n${stdout}\`\`\``), stdout);
});

test('D1.9 expression check: valid expressions show phase and fields, exit 0', async () => {
  const waf = await check(WAF, 'http.request.path == "/x"\n  and threat.score > 5 or http.request.path == "/y"\n');
  assert.deepEqual(waf, { code: 0, stdout: 'valid, request phase, uses http.request.path, threat.score\n', stderr: '' });
  const response = await check([...WAF, 'not (ip.src == 192.0.2.1 or http.response.code == 404)']);
  assert.equal(
    response.stdout,
    'valid, response phase, uses ip.src, http.response.code\n  hint: http.response.code is not known to the agent: it does not load the rule\n',
  );
  const smart = await check([...SMART, 'tcp.flags.syn']);
  assert.equal(smart.stdout, 'valid, uses tcp.flags.syn\n');
});

test('D1.9 expression check: each file is one expression, faults are in the words of the service', async () => {
  const good = file('ip.src == 192.0.2.1');
  const bad = file('ip.src == 192.0.2.1\r\n and http.request.path == "x"\r\n');
  const { code, stdout } = await check([...SMART, good, bad, '-'], 'tcp.dstport in {22, 23}');
  assert.equal(code, 1);
  const lines = stdout.split('\n');
  assert.equal(lines[0], `${good}: valid, uses ip.src`);
  const reason = '"http.request.path" cannot be used in smart firewall rules: HTTP fields do not exist before a connection is made';
  assert.deepEqual(lines.slice(1, 4), [`${bad}: (2:6) ${reason}`, '   and http.request.path == "x"', '       ^^^^^^^^^^^^^^^^^']);
  assert.match(lines[4], /^\(1:19\) .*comma/);
  assert.deepEqual(lines.slice(5), ['  tcp.dstport in {22, 23}', '                    ^', '']);
});

test('D1.9 expression check --lines: one expression a line, faults by the line of the file', async () => {
  const path = file('ip.src == 192.0.2.1\n\n  \r\nip.src == 1\nthreat.score == 7 or\n');
  const { code, stdout } = await check([...WAF, '--lines', path]);
  assert.equal(code, 1);
  const [first, second, ...rest] = stdout.split('\n');
  assert.equal(first, `${path}: line 1: valid, request phase, uses ip.src`);
  assert.match(second, new RegExp(`^${path}: \\(4:11\\) .`));
  assert.equal(rest[0], '  ip.src == 1');
  assert.match(rest[2], /: \(5:21\) ./);
  assert.deepEqual(await check([...WAF, '--lines'], '\n \n'), { code: 0, stdout: '', stderr: '' });
});

test('D1.9 expression check --json: line, column, span, text, phase and fields, one object a line', async () => {
  const [good, bad] = ['any(http.response.headers["a"][*] == "x") and ip.src == ::1', 'é'];
  const path = file(`${good}\n${bad}`);
  const { code, stdout } = await check([...WAF, '--json', '--lines', path]);
  assert.equal(code, 1);
  const [valid, faulty] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const fields = ['http.response.headers', 'ip.src'];
  const none = { line: null, column: null, span: null, text: null };
  assert.deepEqual(valid, { file: path, expression: good, valid: true, ...none, phase: 'response', fields, hints: valid.hints });
  assert.match(valid.hints[0], /^http\.response\.headers is not known to the agent/);
  const { text, ...position } = faulty;
  assert.deepEqual(position, {
    file: path,
    expression: bad,
    valid: false,
    line: 2,
    column: 1,
    span: 2,
    phase: null,
    fields: null,
    hints: null,
  });
  assert.ok(text.length > 0 && !text.startsWith('('));
  const smart = JSON.parse((await check([...SMART, '--json'], 'tcp.dstport == 22')).stdout);
  assert.deepEqual([smart.file, smart.phase, smart.fields], [null, null, ['tcp.dstport']]);
});

test('8, D1.9, D3 expression check: limits of 4,096 characters, 64 regular expressions, no U+0000', async () => {
  const at = async (text: string) => {
    const { code, stdout } = await check([...WAF, '--json', file(text)]);
    const { line, column, text: reason } = JSON.parse(stdout);
    return code === 0 ? 'valid' : `${line}:${column} ${reason}`;
  };
  const quoted = (characters: number) => `http.request.path == "${'😀'.repeat(characters - 23)}"`;
  assert.equal(Array.from(quoted(4096)).length, 4096);
  assert.equal(await at(quoted(4096)), 'valid');
  assert.equal(await at(`${quoted(4096)}\n`), 'valid', 'the line break at the end of a file does not count');
  assert.equal(await at(quoted(4097)), `1:${22 + 4074 * 4 + 1} must be at most 4096 characters`);
  const regexes = (count: number) => Array(count).fill('http.request.host ~ "a"').join(' or\n');
  assert.equal(await at(regexes(64)), 'valid');
  assert.equal(await at(regexes(65)), '1:1 must hold at most 64 regular expressions, holds 65');
  assert.equal(await at('http.request.path == "\0"'), '1:23 must not hold U+0000');
});

test('D1.9 expression check: what cannot be read is one sentence and exit 2', async () => {
  const sentence = async (args: readonly string[], input?: Uint8Array) => {
    const { code, stdout, stderr } = await check(args, input);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^weir: [^\n]+\n$/);
    return stderr;
  };
  assert.match(await sentence([]), /--kind/);
  assert.match(await sentence(['--kind', 'access_rule']), /must be one of: waf_rule, smart_firewall_rule/);
  assert.match(await sentence([...WAF, join(folder, 'nothing')]), /nothing/);
  assert.match(await sentence(WAF, Uint8Array.of(0x22, 0xff)), /standard input is not UTF-8/);
  const latin = file(Uint8Array.of(0xe9));
  assert.ok((await sentence([...WAF, latin])).includes(`${latin} is not UTF-8`));
});

test('D1.9 expression check: a byte order mark is the file’s, not the expression’s', async () => {
  assert.equal((await check([...WAF, file('\ufeffthreat.score == 1')])).code, 0);
  assert.equal((await check([...WAF, file('\ufeff\ufeffthreat.score == 1')])).code, 1);
});

test('D1.9 expression check: what would act on a terminal is shown, not written', async () => {
  const { stdout } = await check([...WAF, 'threat.score == 1 \x9b31m\u202e']);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  assert.doesNotMatch(stdout, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  assert.match(stdout, /\\u\{9b\}31m\\u\{202e\}/);
});

test('D1.9 expression check: SCHEMES_FILE adds fields, a broken one is exit 2', async () => {
  const schemes = file(JSON.stringify({ waf_rule: { 'bot.verdict': { type: 'Int', phase: 'response' } } }));
  const verdict = [...WAF, 'bot.verdict == 1'];
  assert.equal((await check(verdict)).code, 1);
  const known = await check(verdict, undefined, { SCHEMES_FILE: schemes });
  assert.deepEqual(known, { code: 0, stdout: 'valid, response phase, uses bot.verdict\n', stderr: '' });
  const broken = await check([...WAF, 'ip.src == ::1'], undefined, { SCHEMES_FILE: file('{\n "waf_rule": {\n') });
  assert.equal(broken.code, 2);
  assert.match(broken.stderr, /^weir: SCHEMES_FILE [^\n]+\n$/);
});

test('D1.17 expression check: an argument that names no file is the expression', async () => {
  const good = await check([...WAF, 'http.request.path == "/x"', 'threat.score>5']);
  assert.deepEqual(good, {
    code: 0,
    stdout: 'valid, request phase, uses http.request.path\nvalid, request phase, uses threat.score\n',
    stderr: '',
  });
  const bad = await check([...WAF, 'threat.score ==']);
  assert.deepEqual([bad.code, bad.stderr], [1, '']);
  assert.match(bad.stdout, /^\(1:16\) .*\n {2}threat\.score ==\n {17}\^\n$/);
  assert.equal(JSON.parse((await check([...WAF, '--json', 'threat.score > 5'])).stdout).file, null);
  // A name of a file that is not there is told as one; so is every name with --lines.
  const missing = await check([...WAF, 'rules/waf.expr']);
  assert.deepEqual([missing.code, missing.stdout], [2, '']);
  assert.match(missing.stderr, /^weir: there is no file "rules\/waf\.expr", and it is no expression either: \(1:\d+\) .*\n$/);
  assert.equal((await check([...WAF, '--lines', 'threat.score > 5'])).code, 2);
});
