import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { packOf, packsOf } from './packs.ts';

const MODULES = new Map([
  [
    'app.js',
    "import { add, log as told } from './state.js';\ntold('app');\nexport const open = () => import('./pages/one.js');\nglobalThis.opened = { open, add };\n",
  ],
  ['state.js', 'const said = [];\nexport function log(text) {\n  said.push(text);\n}\nexport const add = () => said;\n'],
  [
    'pages/one.js',
    "import {\n  log,\n} from '../state.js';\nimport { part } from './part.js';\nimport { basename } from 'node:path';\nlog('one');\nexport async function Page() {\n  const { Form } = await import('./form.js');\n  return [basename('/a/b'), part, new Form().name];\n}\n",
  ],
  ['pages/part.js', "import { log } from '../state.js';\nlog('part');\nexport const part = 'part';\n"],
  ['pages/form.js', "import { part } from './part.js';\nexport class Form {\n  name = 'form of ' + part;\n}\n"],
]);

test('D18.91 modules are joined: each is run once, when it is used first, and is in one pack wherever it is there already', async () => {
  const packs = packsOf(MODULES, 'app.js');
  assert.deepEqual([...packs.keys()], ['app.js', 'pages-one.js', 'pages-form.js']);
  assert.doesNotMatch(packs.get(packOf('pages/form.js'))!, /part = 'part'/);
  const folder = mkdtempSync(join(tmpdir(), 'weir-packs-'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  for (const [name, text] of packs) writeFileSync(join(folder, name), text);
  await import(pathToFileURL(join(folder, 'app.js')).href);
  await Promise.resolve();
  const { opened } = globalThis as unknown as { opened: { open(): Promise<{ Page(): Promise<string[]> }>; add(): string[] } };
  assert.deepEqual(opened.add(), ['app']);
  const [page, again] = await Promise.all([opened.open(), opened.open()]);
  assert.equal(page, again);
  assert.deepEqual(await page.Page(), ['b', 'part', 'form of part']);
  assert.deepEqual(opened.add(), ['app', 'part', 'one']);
  assert.throws(() => packsOf(new Map([['app.js', "export { a } from './b.js';\n"]]), 'app.js'), /written as no other is/);
});
