import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { test } from 'node:test';
import { pageAt, pageModules, withoutComments } from './files.ts';

const FOLDER = new URL('../../../packages/console/', import.meta.url);

test('D18.91 modules are sent without their comments, and with all else', () => {
  const text = "/** What. */\n\nconst a = /** @type {any} */ (b); // c\n/**\n * Of two\n * lines.\n */\n  // Why.\nconst d = 'http://e';\n";
  assert.equal(withoutComments(text), "\nconst a = (b); // c\nconst d = 'http://e';\n");
  for (const path of readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((each) => each.endsWith('.js'))) {
    const whole = readFileSync(new URL(path, FOLDER), 'utf8');
    const sent = withoutComments(whole);
    assert.doesNotMatch(sent, /\/\*\*|^\s*\/\/ /m, path);
    // It can be read, and has each line of the code.
    stripTypeScriptTypes(sent);
    const code = (of: string) =>
      of
        .split('\n')
        .map((line) => line.replace(/\/\*\*.*?\*\/ ?/g, '').trim())
        .filter((line) => line !== '' && !/^(\/\*\*|\*|\/\/)(?![\w`$])/.test(line));
    assert.deepEqual(code(sent), code(whole), path);
  }
});

test('D18.91 a path is of the page that the console shows there', () => {
  const rows = pageModules(readFileSync(new URL('pages.js', FOLDER), 'utf8'));
  assert.deepEqual([rows.get('/'), rows.get('/rules'), rows.size > 15], ['pages/overview.js', 'pages/rules.js', true]);
  const at = (path: string) => pageAt(rows.keys(), path);
  assert.deepEqual([at('/'), at('/rules'), at('/rules/waf'), at('/rulesets')], ['/', '/rules', '/rules', undefined]);
});
