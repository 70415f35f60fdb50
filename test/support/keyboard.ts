/** A page with the keyboard alone: what Tab comes to, in which order, and whether one sees where one is. And whether texts can be read. */
import assert from 'node:assert/strict';
import type { Page } from './browser.ts';
import { eventually } from './weir.ts';

/** Whatever Tab has to come to, in the order of the document. */
const STOPS = `(root) => [...root.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')].filter((each) =>
  each.tabIndex >= 0 && !each.disabled && each.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true }) &&
  // Of radio buttons the one that is chosen.
  !(each.type === 'radio' && !each.checked && root.querySelector('[name="' + each.name + '"]:checked')))`;

export const NAME = `(each) => (each.getAttribute('aria-label') ?? each.labels?.[0]?.innerText ?? each.innerText ?? each.tagName).trim().split('\\n')[0].slice(0, 60)`;

/** Where the focus is, after it was noted. */
const STEP = (root: string) => `(() => {
  const [at, root] = [document.activeElement, document.querySelector(${JSON.stringify(root)})];
  if (at === document.body || !root.contains(at)) return { isIn: false };
  const isAgain = window.walked.includes(at);
  window.walked.push(at);
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(at);
  const { top, bottom, left, right } = at.getBoundingClientRect();
  return { isIn: true, isAgain, name: (${NAME})(at),
    isMarked: (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none',
    isInSight: bottom > 0 && top < innerHeight && right > 0 && left < innerWidth };
})()`;

const LEFT_OUT = (root: string) => `(() => {
  const stops = (${STOPS})(document.querySelector(${JSON.stringify(root)}));
  const met = window.walked.filter((each) => stops.includes(each));
  const late = met.filter((each, i) => i > 0 && !(met[i - 1].compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING));
  return { missing: stops.filter((each) => !met.includes(each)).map(${NAME}), late: late.map(${NAME}),
    lists: [...document.querySelectorAll(${JSON.stringify(`${root} .long`)})].map((list) => met.filter((each) => list.contains(each)).length) };
})()`;

interface Step {
  readonly isIn: boolean;
  readonly isAgain: boolean;
  readonly name: string;
  readonly isMarked: boolean;
  readonly isInSight: boolean;
}

/** Presses Tab until the element of that name has the focus; with `within`, one in what a selector finds. */
export async function tabTo(page: Page, name: string, within = 'body'): Promise<void> {
  const isThere = `(() => {
    const [at, name] = [document.activeElement, ${JSON.stringify(name.slice(0, 60))}];
    return !at.disabled && at.closest(${JSON.stringify(within)}) !== null && (${NAME})(at) === name;
  })()`;
  for (let steps = 0; steps < 300; steps += 1) {
    await page.press('Tab');
    if (await page.evaluate<boolean>(isThere)) return;
  }
  assert.fail(`Tab does not come to ${name}`);
}

/** Walks through what a selector finds with Tab: all of it is come to, in its order, in sight and marked; a long list is one stop. Names of the stops. */
export async function walk(page: Page, root: string, what: string): Promise<string[]> {
  const names: string[] = [];
  await page.evaluate(`{
    window.walked = [];
    const root = document.querySelector(${JSON.stringify(root)});
    if (root.matches('dialog')) window.walked.push(document.activeElement);
    else {
      root.tabIndex = -1;
      root.focus();
    }
  }`);
  for (let steps = 0; ; steps += 1) {
    assert.ok(steps < 200, `${what}: Tab never leaves`);
    await page.press('Tab');
    const step = await page.evaluate<Step>(STEP(root));
    // From the last stop of a dialog Tab goes to the browser's own, a few on a slow machine, then to the first.
    if (!step.isIn && root.startsWith('dialog') && steps - names.length < 3) continue;
    if (!step.isIn || step.isAgain) break;
    names.push(step.name);
    assert.ok(step.isMarked, `${what}: nothing shows that the focus is on ${step.name}`);
    assert.ok(step.isInSight, `${what}: ${step.name} has the focus out of sight`);
  }
  const { missing, late, lists } = await page.evaluate<{ missing: string[]; late: string[]; lists: number[] }>(LEFT_OUT(root));
  assert.deepEqual(missing, [], `${what}: Tab does not come to these`);
  assert.deepEqual(root.startsWith('dialog') ? [] : late, [], `${what}: these are come to too late`);
  assert.ok(Math.max(0, ...lists) <= 1, `${what}: a long list is one stop`);
  return names;
}

/** In the long list of a page, keys go from row to row, and the focus goes with them. */
export async function walkRows(page: Page, what: string): Promise<void> {
  await page.evaluate(`document.querySelector('.long-row[tabindex="0"]').focus()`);
  const isAt = (wanted: string) =>
    eventually(async () =>
      assert.ok(
        await page.evaluate<boolean>(`(() => { const { index } = document.activeElement.dataset; return ${wanted}; })()`),
        `${what}: ${wanted}`,
      ),
    );
  await page.press('Home');
  await isAt('index === "0"');
  await page.press('End');
  await isAt('document.activeElement === [...document.querySelectorAll(".long-row")].at(-1)');
  const last = Number(await page.evaluate<string>('document.activeElement.dataset.index'));
  if (last > 0) {
    await page.press('PageUp');
    await isAt(`Number(index) < ${last}`);
    await page.press('Home');
    await page.press('ArrowDown');
    await isAt('index === "1"');
    await page.press('ArrowUp');
  }
  await isAt('index === "0"');
}

/** Texts that are too pale for what is behind them (WCAG 2, AA), rows of long lists among them, which axe leaves undecided. */
export const PALE = `(() => {
  const context = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true });
  const rgba = (color) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
  const behind = (element) => {
    if (element === null) return rgba(getComputedStyle(document.documentElement).colorScheme.includes('dark') && matchMedia('(prefers-color-scheme: dark)').matches ? 'black' : 'white');
    const own = rgba(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own : over(own, behind(element.matches('dialog') ? null : element.parentElement));
  };
  const light = ([r, g, b]) => {
    const [R, G, B] = [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * R + 0.7152 * G + 0.0722 * B;
  };
  const pale = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.data.trim() === '' || element.closest('script, style, noscript, svg, [aria-hidden=true], :disabled, option')) continue;
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const { color, fontSize, fontWeight } = getComputedStyle(element);
    const back = behind(element);
    const [a, b] = [light(over(rgba(color), back)), light(back)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const isLarge = parseFloat(fontSize) >= 24 || (parseFloat(fontSize) >= 18.66 && Number(fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) pale.add(element.tagName + '.' + element.className + ' ' + ratio.toFixed(2) + ' ' + node.data.trim().slice(0, 30));
  }
  return [...pale];
})()`;
