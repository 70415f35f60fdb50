/** The console in a real browser, as a person uses it: by what is written on buttons and fields. */
import assert from 'node:assert/strict';
import type { Page } from './browser.ts';
import { eventually } from './weir.ts';

export interface ConsolePage extends Page {
  /** Opens a page of the console, such as `/feeds`, and waits for its heading. */
  show(path: string, heading: string): Promise<void>;
  signIn(key: string, name?: string): Promise<void>;
  /** Waits until a text is to be seen. */
  sees(text: string | RegExp): Promise<void>;
  seesNot(text: string | RegExp): Promise<void>;
  /** Presses the button or link of that name; with `within`, the one in what a selector finds. */
  click(name: string, within?: string): Promise<void>;
  /** Fills the field with that label. */
  fill(label: string, value: string): Promise<void>;
  /** The text of the page. */
  text(): Promise<string>;
}

/** What of an element a person reads as its name. */
const NAMED = `(element) => (element.getAttribute('aria-label') ?? element.innerText ?? '').replace(/\\s+/g, ' ').trim()`;

/** A page of the browser with the words of the console. */
export function consolePage(page: Page, url: string): ConsolePage {
  const text = () => page.evaluate<string>('document.body.innerText');
  const matches = (shown: string, wanted: string | RegExp) => (typeof wanted === 'string' ? shown.includes(wanted) : wanted.test(shown));
  const sees = (wanted: string | RegExp) =>
    eventually(async () => {
      const shown = await text();
      assert.ok(matches(shown, wanted), `${wanted} is not on the page:\n${shown}`);
    });
  const find = (script: string, what: string) =>
    eventually(async () => assert.ok(await page.evaluate<boolean>(script), `there is no ${what}`));
  const self: ConsolePage = {
    ...page,
    text,
    sees,
    seesNot: (wanted) => eventually(async () => assert.ok(!matches(await text(), wanted), `${wanted} is on the page`)),
    async show(path, heading) {
      await page.open(`${url}/console${path}`);
      await find(`document.querySelector('h1')?.innerText === ${JSON.stringify(heading)}`, `heading ${heading}`);
    },
    async signIn(key, name = 'Jana Novák') {
      await page.open(`${url}/console/`);
      await self.fill('API key', key);
      await self.fill('Your name', name);
      await self.click('Sign in');
      await find(`document.querySelector('.shell') !== null`, 'page behind the form to sign in');
    },
    click: (name, within = 'body') =>
      find(
        `(() => {
          const top = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document;
          const found = [...(top.querySelector(${JSON.stringify(within)}) ?? top).querySelectorAll('button, a, [role=tab], .long-row')]
            .filter((element) => !element.disabled && element.offsetParent !== null)
            .find((element) => (${NAMED})(element) === ${JSON.stringify(name)});
          found?.click();
          return found !== undefined;
        })()`,
        `button ${name}`,
      ),
    fill: (label, value) =>
      find(
        `(() => {
          const top = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document;
          const labels = [...top.querySelectorAll('label')].filter((each) => each.innerText.trim() === ${JSON.stringify(label)});
          const field = labels[0]?.control ?? top.querySelector('[aria-label=' + CSS.escape(${JSON.stringify(label)}).replace(/^/, '"').replace(/$/, '"') + ']');
          if (!field) return false;
          if (field.type === 'checkbox') {
            if (String(field.checked) !== ${JSON.stringify(value)}) field.click();
            return true;
          }
          const isSelect = field instanceof HTMLSelectElement;
          Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value').set.call(field, ${JSON.stringify(value)});
          // What can be chosen may not have been read yet.
          if (isSelect && field.value !== ${JSON.stringify(value)}) return false;
          field.dispatchEvent(new Event(isSelect ? 'change' : 'input', { bubbles: true }));
          return true;
        })()`,
        `field ${label}`,
      ),
  };
  return self;
}
