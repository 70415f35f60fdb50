/** `weir expression test`, as a rule author runs it. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { command } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { weir } from '../support/weir.ts';

const folder = temporaryFolder({ after });
let written = 0;
const file = (content: string | Uint8Array): string => {
  written += 1;
  const path = join(folder, `request-${written}`);
  writeFileSync(path, content);
  return path;
};
const run = (args: readonly string[], input?: string | Uint8Array) => {
  const [words, environment] = [['expression', 'test', ...args], { DATA_DIR: join(folder, 'data') }];
  return input === undefined ? command(words, environment) : weir(words, environment, input);
};
const tested = async (expression: string, content: string | Uint8Array) => {
  const { code, stdout, stderr } = await run(['--json', expression, '--request', file(content)]);
  assert.equal(stderr, '');
  return { code, ...JSON.parse(stdout) };
};

const LOG = '203.0.113.9 - - [10/Oct/2026:13:55:36 +0000] "GET /admin/login.php?x=1 HTTP/1.1" 200 12 "-" "bot\\xff \\"q\\""\n';

test('D19.10 expression test: the result, each part with its value, what the request lacks; exit 1 unless true', async () => {
  const expression = 'http.request.path contains "/admin" and (http.request.headers["x"][0] != "en" or threat.score > 50)';
  const { code, stdout, stderr } = await run([expression, '--request', file(LOG)]);
  assert.deepEqual([code, stderr], [0, '']);
  assert.ok(
    stdout.startsWith(`true

true  ←  ${expression}
  true  ←  http.request.path contains "/admin"
    "/admin/login.php"  ←  http.request.path
  true  ←  http.request.headers["x"][0] != "en" or threat.score > 50
    true  ←  http.request.headers["x"][0] != "en"
      missing  ←  http.request.headers["x"][0]
    not reached  ←  threat.score > 50
      not reached  ←  threat.score

not in the request, so the default of the engine counts: http.request.headers["x"], threat.score
`),
    stdout,
  );
  assert.match(stdout, /hint: http\.request\.headers\["x"\]\[0\] != "en" is true of every request without/);
  assert.equal((await run(['threat.score > 5', '--request', file(LOG)])).code, 1);
});

test('D19.10, D19.12 expression test: a line of an access log, bytes that are no UTF-8 and quotes included', async () => {
  const log = await tested(
    'http.request.user_agent == "" and http.request.headers["user-agent"][0] == "bot\\xff \\"q\\"" and http.request.query == "x=1"',
    LOG,
  );
  assert.deepEqual([log.code, log.result, log.lacking], [0, true, []]);
});

test('D19.10, D19.13 expression test: a curl command; the agent sees another host and no body', async () => {
  const curl = `curl -XPOST 'https://shop.example:8443/login?a=%20b' \\\n -H "Accept-Language: de" -A bot --data 'user=a&pass=b'`;
  const expression =
    'http.request.host == "shop.example" and http.request.port == 8443 and http.request.body == "user=a&pass=b" and http.request.method == "POST"';
  const result = await tested(expression, curl);
  assert.deepEqual([result.result, result.agent.result, result.lacking], [true, false, []]);
  const headers =
    'http.request.headers["host"][0] == "shop.example:8443" and http.request.content_length == 13 and http.request.user_agent == "bot"';
  assert.equal((await tested(headers, curl)).result, true);
  assert.match((await run([expression, '--request', file("curl 'http://x")])).stderr, /a quote of the command line is not closed/);
});

test('D19.10, D19.12 expression test: an entry of a HAR, and a whole HAR', async () => {
  const entry = {
    startedDateTime: '2026-10-10T10:00:00Z',
    request: {
      method: 'POST',
      url: 'https://shop.example/kasse?q=é',
      httpVersion: 'h2',
      headers: [
        { name: ':authority', value: 'shop.example' },
        { name: 'X-A', value: '1' },
        { name: 'x-a', value: '2' },
      ],
      postData: { text: 'körper' },
    },
    response: { status: 404, headers: [{ name: 'Content-Type', value: 'text/html; charset=utf-8' }] },
  };
  const expression =
    'http.request.body == "körper" and http.request.query == "q=é" and http.request.headers["x-a"][1] == "2" and http.response.code == 404 and http.response.content_type.media_type == "text/html" and signal.ja4h_version == "20"';
  for (const content of [JSON.stringify(entry), JSON.stringify({ log: { entries: [entry] } }, null, 2)]) {
    const result = await tested(expression, content);
    assert.equal(result.result, true, JSON.stringify(result.why));
    assert.deepEqual(result.agent, { result: null, error: 'http.response.code is not known to the agent: it does not load the rule' });
  }
});

test('D19.7, D19.10 expression test: fields as JSON, on several lines; what is wrong is named', async () => {
  const fields = { 'ip.src': '::1', 'threat.score': '9007199254740993', 'http.request.path': { base64: '/w==' } };
  const request = JSON.stringify(fields, null, 2);
  assert.equal(
    (await tested('threat.score == 9007199254740993 and to_string(ip.src) == "::1" and http.request.path == "\\xff"', request)).result,
    true,
  );
  for (const [content, expected] of [
    ['{"http.request.port": "x", "ip.src": "::1"}', /http\.request\.port must be an integer/],
    ['{"request": {"http.host": "x"}}', /there is no field "http\.host"/],
    ['{"a": 1}', /no request is found/],
    ['', /there is no request/],
    ['hello', /neither JSON nor of the combined log format/],
  ] as const) {
    const { code, stderr } = await run(['ip.src == ::1', '--request', file(content)]);
    assert.equal(code, 2);
    assert.match(stderr, expected);
  }
  const unset = await tested('ip.src == ::1', '{"request": {}}');
  assert.deepEqual([unset.code, unset.result, unset.error], [1, null, 'ip.src is not set, and an address has no default']);
  assert.match((await run(['ip.src ==', '--request', file(LOG)])).stderr, /^weir: \(1:10\)/);
});

test('D19.9 expression test --pairs: a line for each line, from a file or standard input, gzip too', async () => {
  const fixture = new URL('../../packages/expression/test/fixtures/evaluations.jsonl.gz', import.meta.url).pathname;
  const pairs = gunzipSync(readFileSync(fixture)).toString('utf8').trimEnd().split('\n');
  const wanted = pairs.map((line) => {
    const { id, result, error } = JSON.parse(line);
    return { id, result, error };
  });
  const { code, stdout } = await run(['--pairs', fixture]);
  assert.equal(code, 0);
  const got = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    got.map(({ id, result, error }) => ({ id, result, error })),
    wanted,
  );
});

test('D19.9 expression test --pairs: faulty lines get an error of their own', async () => {
  const lines = [
    '{"id":1,"scheme":"waf_rule","expression":"http.request.path == \\"\\u00e9\\"","request":{"http.request.path":"é"}}',
    '{"id":"é","scheme":"waf_rule","expression":"threat.score ==","request":{}}',
    '',
    'x',
    '{"id":3,"scheme":"other","expression":"ip.src == ::1","request":{}}',
    '{"id":4,"scheme":"waf_rule","expression":"ip.src == ::1","request":{}}',
    '{"id":5,"scheme":"waf_rule","expression":"threat.score == 1","request":{"threat.score":"x"}}',
  ];
  const { code, stdout } = await run(['--pairs', '-'], lines.join('\n'));
  assert.equal(code, 0);
  const got = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(got[0], { id: 1, result: true });
  assert.equal(got[1].id, 'é');
  assert.match(got[1].error, /^\(1:16\) /);
  assert.deepEqual(got[2], { id: null, error: 'the line is no JSON object' });
  assert.match(got[3].error, /^scheme must be one of/);
  assert.deepEqual(got[4], { id: 4, error: 'panic', detail: 'ip.src is not set, and an address has no default' });
  assert.match(got[5].error, /^threat\.score must be an integer/);
  assert.equal(got.length, 6);
});
