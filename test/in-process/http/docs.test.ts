import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packagedSchemes } from '@weir/expression/scheme.ts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { pathsOf } from '../../../src/http/address.ts';
import { ADDRESSES } from '../../../src/http/addresses.ts';
import { pathOfKind } from '../../../src/http/rules/query.ts';
import { KINDS } from '../../../src/rule.ts';
import { validateBatch } from '../../../src/signal/batch.ts';
import { docsApp } from '../../support/docs-app.ts';
import { undocumented } from '../../support/documented.ts';
import { inject } from '../../support/inject.ts';

interface Media {
  readonly schema: object;
  readonly examples: Record<string, { readonly value: unknown }>;
}
interface Operation {
  readonly requestBody?: { readonly content: Record<string, Media> };
  readonly responses: Record<string, { readonly description: string; readonly headers?: object; readonly content?: Record<string, Media> }>;
}
interface Document {
  readonly openapi: string;
  readonly servers: { readonly url: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, object>; readonly securitySchemes: object };
}

const app = docsApp();
const document = async (group: string): Promise<Document> => (await inject(app, `/docs/${group}/swagger/json`)).json();
const operations = ({ paths }: Document) => Object.values(paths).flatMap((path) => Object.values(path));

test('1 interactive documentation at /docs/signal/swagger/ and /docs/feeds/swagger/, with and without the slash', async () => {
  for (const group of ['signal', 'feeds', 'rules', 'agent', 'bouncer', 'manage']) {
    for (const path of [`/docs/${group}/swagger`, `/docs/${group}/swagger/`]) {
      const page = await inject(app, path);
      assert.equal(page.statusCode, 200);
      assert.match(page.headers['content-type'] as string, /^text\/html/);
      assert.doesNotMatch(page.body, /https?:\/\/|<script>|onload=/);
      const base = `http://x${path}`;
      for (const [, url] of page.body.matchAll(/(?:src|href)="([^"]+)"/g)) {
        assert.equal((await inject(app, new URL(url!, base).pathname)).statusCode, 200, url);
      }
    }
  }
});

test('1 HEAD of the documentation is GET without the body', async () => {
  for (const path of ['', '/', '/json', '/static/swagger-ui.css']) {
    const url = `/docs/feeds/swagger${path}`;
    const [get, head] = [await inject(app, url), await inject(app, { method: 'HEAD', url })];
    assert.deepEqual(
      [head.statusCode, head.headers['content-length'], head.body],
      [get.statusCode, get.headers['content-length'], ''],
      path,
    );
  }
});

test('1 the documentation loads nothing from elsewhere', async () => {
  const { headers } = await inject(app, '/docs/signal/swagger/');
  const policy = String(headers['content-security-policy']);
  assert.match(policy, /default-src 'none'; script-src 'self';/);
  assert.doesNotMatch(policy, /https?:|unsafe-eval|upgrade-insecure/);
  for (const file of ['swagger-ui.css', 'index.css']) {
    const css = await inject(app, `/docs/signal/swagger/static/${file}`);
    assert.doesNotMatch(css.body, /url\(['"]?https?:/);
  }
});

test('4 every method of every path is documented, with every status', async () => {
  const signal = await document('signal');
  assert.deepEqual(Object.keys(signal.paths), ['/v1/signal', '/v2/signal']);
  const manage = await document('manage');
  for (const { responses, ...about } of operations(manage)) {
    const statuses = Object.keys(responses);
    for (const status of ['400', '401', '402', '403', '404', '405', '408', '417', '429', '431', '500'])
      assert(statuses.includes(status), JSON.stringify(about));
  }
  for (const { responses } of operations(signal)) {
    assert.deepEqual(Object.keys(responses), [
      '200',
      '206',
      '400',
      '401',
      '402',
      '403',
      '404',
      '405',
      '408',
      '409',
      '415',
      '417',
      '429',
      '431',
      '500',
    ]);
  }
  const feeds = await document('feeds');
  const statuses = ['200', '304', '400', '401', '402', '403', '404', '405', '408', '412', '413', '417', '429', '431', '500'];
  for (const [path, methods] of Object.entries(feeds.paths)) {
    assert.deepEqual(Object.keys(methods), ['get', 'head']);
    const expected = path.includes('{list}') ? [...statuses, '409'].sort() : statuses;
    for (const { responses } of Object.values(methods)) assert.deepEqual(Object.keys(responses), expected);
  }
  assert.deepEqual(Object.keys(feeds.components.securitySchemes), ['bearer', 'basic']);
  const rules = await document('rules');
  assert.deepEqual(
    Object.keys(rules.paths),
    KINDS.map((kind) => `/v1/rules/${pathOfKind(kind)}`),
  );
  for (const [path, methods] of Object.entries(rules.paths)) {
    assert.deepEqual(Object.keys(methods), ['get', 'head']);
    const expected = path.endsWith('access') ? [...statuses, '409'].sort() : statuses;
    for (const { responses } of Object.values(methods)) assert.deepEqual(Object.keys(responses), expected);
  }
  const agent = await document('agent');
  for (const [path, methods] of Object.entries(agent.paths)) {
    const expected = path.endsWith('config') ? statuses : statuses.filter((status) => !['304', '412', '413'].includes(status));
    for (const { responses } of Object.values(methods)) assert.deepEqual(Object.keys(responses), expected);
  }
});

test('4 every address that asks for a key is documented once, under its group, with the methods that it has', async () => {
  const seen = new Map<string, string[]>();
  const ids: string[] = [];
  for (const group of ['signal', 'feeds', 'rules', 'agent', 'bouncer', 'manage']) {
    for (const [path, methods] of Object.entries((await document(group)).paths)) {
      assert.ok(!seen.has(path), path);
      seen.set(path, Object.keys(methods));
      for (const { operationId } of Object.values(methods) as { operationId?: string }[]) ids.push(operationId!);
    }
  }
  assert.equal(new Set(ids).size, ids.length, 'no name twice');
  const rows = ADDRESSES.filter(({ gate }) => gate !== 'all');
  assert.deepEqual([...seen.keys()].toSorted(), [...new Set(rows.flatMap(pathsOf))].toSorted());
  for (const row of rows)
    for (const path of pathsOf(row)) assert.ok(seen.get(path)!.includes(row.method.toLowerCase()), `${row.method} ${path}`);
});

test('D46.6 each operation of management has its own statuses, and a 412 what it is now; tests see no status that is not there', async () => {
  const manage = await document('manage');
  const operation = (path: string, method: string) => manage.paths[`/v1/manage${path}`]![method]!;
  const good = (path: string, method = 'post') => Object.keys(operation(path, method).responses).filter((status) => status < '400');
  for (const path of ['/lists', '/feeds', '/keys', '/sources', '/webhooks', '/replacements']) assert.deepEqual(good(path), ['201'], path);
  for (const path of [
    '/backtests',
    '/replacements/{replacement}/start',
    ...['refresh', 'accept', 'discard'].map((what) => `/sources/{source}/${what}`),
  ])
    assert.deepEqual(good(path), ['202'], path);
  for (const path of ['/rules', '/undo', '/imports', '/rules/change']) assert.deepEqual(good(path), ['200', '202'], path);
  assert.deepEqual(
    [good('/status', 'get'), good('/lists/{list}', 'get'), good('/answers/{answer}', 'get')],
    [['200', '304'], ['200'], ['200', '202', '304']],
  );
  const { schema } = operation('/lists/{list}', 'patch').responses[412]!.content!['application/json']!;
  const changed = manage.components.schemas[(schema as { $ref: string }).$ref.split('/').at(-1)!] as { properties: { current: object } };
  assert.deepEqual(changed.properties.current, operation('/lists/{list}', 'get').responses[200]!.content!['application/json']!.schema);
  assert.match(
    undocumented('POST', '/v1/manage/lists?x=1', 200) ?? '',
    /^POST \/v1\/manage\/lists answers 200, and its API document has 201,/,
  );
  assert.equal(undocumented('GET', '/v1/threat/feeds/edge', 304), undefined);
});

test('2, 7 every body has an example, and every example fits its schema', async () => {
  for (const group of ['signal', 'feeds', 'rules', 'agent', 'bouncer', 'manage']) {
    const api = await document(group);
    assert.equal(api.openapi, '3.1.0');
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(api, 'api');
    const qualified = (schema: object) => JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/'));
    let bodies = 0;
    for (const { requestBody, responses } of operations(api)) {
      for (const [status, { content }] of Object.entries(responses)) {
        if (status !== '304') assert(content !== undefined, status);
      }
      const media = [requestBody, ...Object.values(responses)].flatMap((part) => Object.values(part?.content ?? {}));
      for (const { schema, examples } of media) {
        const validate = ajv.compile(qualified(schema));
        const values = Object.values(examples);
        assert(values.length > 0);
        for (const { value } of values) {
          bodies += 1;
          assert(validate(value), `${JSON.stringify(value)} ${ajv.errorsText(validate.errors)}`);
        }
      }
    }
    assert(bodies > 20);
  }
});

test('2 what the documentation shows as requests is accepted', async () => {
  const api = await document('signal');
  for (const version of [1, 2] as const) {
    const { requestBody } = api.paths[`/v${version}/signal`]!.post!;
    for (const { value } of Object.values(requestBody!.content['application/json']!.examples)) {
      const result = validateBatch(version, JSON.stringify(value), {
        hasAsn: () => true,
        isCountry: () => true,
        schemes: packagedSchemes(),
        listBound: false,
      });
      assert.deepEqual(result.refused ?? result.errors, [], JSON.stringify(value));
    }
  }
});

test('D6 the fields of every body are snake_case', async () => {
  for (const group of ['signal', 'feeds', 'rules', 'manage']) {
    const names: string[] = [];
    const collect = (name: string, value: unknown) => {
      names.push(name);
      return value;
    };
    for (const { requestBody, responses } of operations(await document(group))) {
      const media = [requestBody, ...Object.values(responses)].flatMap((part) => Object.values(part?.content ?? {}));
      const values = media.flatMap(({ examples }) => Object.values(examples).map(({ value }) => value));
      JSON.stringify(values, collect);
    }
    const fields = new Set(names.filter((name) => !/^\d*(xx)?$/.test(name)));
    assert(fields.size >= 4, group);
    assert.deepEqual(
      [...fields].filter((name) => !/^[a-z]+\d?(_[a-z0-9]+)*$/.test(name)),
      [],
    );
  }
});

test('D1 BASE_URL is the server of the documents', async () => {
  assert.deepEqual((await document('signal')).servers, [{ url: '/' }]);
  const other = docsApp('https://weir.example');
  assert.deepEqual((await inject(other, '/docs/feeds/swagger/json')).json().servers, [{ url: 'https://weir.example' }]);
});
