/** The API documentation in a real browser. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type Page, startBrowser } from '../support/browser.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { needs } from '../support/programs.ts';
import { eventually, KEY, startWeir } from '../support/weir.ts';

/** The texts of what a selector finds. */
const texts = (page: Page, selector: string) =>
  page.evaluate<string[]>(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((found) => found.innerText.trim())`);

/** Clicks on what a selector finds first, once it is there. */
const click = (page: Page, selector: string) =>
  eventually(async () =>
    assert.ok(
      await page.evaluate(
        `(() => { const found = document.querySelector(${JSON.stringify(selector)}); found?.click(); return found !== null; })()`,
      ),
      selector,
    ),
  );

/** Types into an input, as the page's own code sees it. */
const type = (page: Page, selector: string, value: string) =>
  page.evaluate(`(() => {
    const input = document.querySelector(${JSON.stringify(selector)});
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(input), 'value').set.call(input, ${JSON.stringify(value)});
    input.dispatchEvent(new Event('input', { bubbles: true }));
  })()`);

suite('1 API documentation in a browser', { skip: needs('chromium'), timeout: 600_000 }, () => {
  test('1, 4 every operation is shown and can be tried; nothing is asked of another host', async (t) => {
    const folder = temporaryFolder(t);
    const [weir, browser] = await Promise.all([
      startWeir({ ...smallGeo(folder), DATA_DIR: folder, BOOTSTRAP_API_KEY: KEY }),
      startBrowser(),
    ]);
    t.after(() => weir.kill('SIGTERM'));
    t.after(() => browser.close());
    for (const { group, operations, tried } of [
      { group: 'signal', operations: ['POST /v1/signal', 'POST /v2/signal'], tried: 'post' },
      {
        group: 'feeds',
        operations: ['GET /v1/threat/feeds', 'HEAD /v1/threat/feeds', 'GET /v1/threat/feeds/{list}', 'HEAD /v1/threat/feeds/{list}'],
        tried: 'get',
      },
    ]) {
      const page = await browser.page();
      await page.open(`${weir.url}/docs/${group}/swagger/`);
      await eventually(async () => {
        const shown = await texts(page, '.opblock-summary');
        // Zero-width blanks let long paths wrap.
        assert.deepEqual(
          shown.map((text) => text.replaceAll('\u200b', '').split(/\s+/).slice(0, 2).join(' ')).toSorted(),
          operations.toSorted(),
        );
      });
      assert.equal(page.complaints.join('\n'), '');

      await click(page, `.opblock-${tried} .opblock-summary-control`);
      await click(page, '.try-out__btn');
      // The form may not be complete yet when its button is there: then it is pressed again.
      const execute = (status: string) =>
        eventually(async () => {
          await click(page, '.btn.execute');
          const answered = async () => assert.equal((await texts(page, '.live-responses-table .response .response-col_status'))[0], status);
          await eventually(answered, 1000);
        });
      // Where Basic is offered too the browser itself would ask for a password.
      if (group === 'signal') await execute('401');
      await click(page, '.btn.authorize');
      await eventually(async () => assert.ok((await texts(page, '.auth-container input')).length > 0));
      await type(page, '.auth-container input', KEY);
      await click(page, '.auth-container .btn.authorize');
      await click(page, '.auth-container .btn-done');
      await execute('200');

      const origins = new Set(page.requests.filter((url) => !url.startsWith('data:')).map((url) => new URL(url).origin));
      assert.deepEqual([...origins], [weir.url]);
      assert.ok(page.requests.length > 5);
      // The one refused request is all that the console has to say.
      assert.ok(
        page.complaints.every((text) => text.includes('401')),
        page.complaints.join('\n'),
      );
    }
  });
});
