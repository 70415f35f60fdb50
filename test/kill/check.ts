/** What has to hold after a round, when everything that was harmed is well again. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, must, told, Violation } from './api.ts';
import { insist, isActive, landMark, type Scene } from './house.ts';
import { matchLanded, readLanded } from './landed.ts';
import { fewest, isHost, networkText } from './networks.ts';
import { BRIEF, type Round } from './plan.ts';
import { landedOf } from './senders.ts';
import { bodyOf, networksOf } from './views.ts';

/** For how long bouncers are told at most what could not be noted, ms, and a second for rounding. */
const UNNOTED = 3_601_000;
/** Between two times at which the source is told to be fetched, ms: nobody knows whether the last one was heard. */
const ASK_EVERY = 3000;

/** Rejects with a violation. `sentBefore`: how much had been sent before the round; `note` is told of each step that is done. */
export async function checkRound(scene: Scene, { harms }: Round, sentBefore: number, note: (step: string) => void): Promise<void> {
  const { world, manage } = scene;
  await world.whole?.();
  await insist(() => manage.ask('/readyz'), [200], world.patience.answers);
  note('ready');
  await landMark(manage);
  note('landed');
  must(world.ended.length === 0, world.ended.join('\n'));
  scene.wasFull ||= harms.some(({ harm }) => harm.includes('disk'));
  const seen = await foldLanded(scene, sentBefore);
  const clockWasSet = harms.some(({ harm }) => harm === 'clock');
  await checkRules(scene, clockWasSet);
  await adoptSettings(scene);
  note('read');
  await checkFeeds(scene);
  checkSeen(scene, seen);
  note('fed');
  await world.check?.();
  const letters = told(await insist(() => manage.ask('/v1/manage/dead-letters'), [200]));
  must(
    letters.dead_letters?.length === 0 || letters.letters?.length === 0,
    `there are dead letters: ${JSON.stringify(letters).slice(0, 500)}`,
  );
}

/** Lands in the models what has landed; the bodies that the feeds of lists may have had meanwhile, in their order. */
async function foldLanded({ manage, known, listIds, models, sent }: Scene, from: number): Promise<Map<string, string[]>> {
  const landed = await readLanded(manage, known);
  const seen = new Map<string, string[]>();
  for (const [list, model] of models) {
    const mine = landed.filter(({ list_id }) => listIds.get(list_id ?? '') === list);
    const bodies: string[] = [];
    const note = () =>
      bodies.push(
        fewest(model.rules().flatMap((rule) => (rule.action === 'block' && rule.target !== null ? [rule.target] : [])))
          .map((each) => `${networkText(each)}\n`)
          .join(''),
      );
    note();
    const fresh = sent.slice(from).filter((each) => each.list === list);
    for (const { batch, sent } of matchLanded(list, fresh, mine)) if (sent.outcome !== 'nothing') model.land(landedOf(batch, sent), note);
    seen.set(list, bodies);
  }
  return seen;
}

/** What devices got of a list while the round went on was the list as it was at some instant, and never an earlier one than before (D4.8, D5.13). */
function checkSeen({ appliances }: Scene, seen: ReadonlyMap<string, readonly string[]>): void {
  for (const appliance of appliances) {
    const list = appliance.view.slice(1);
    const bodies = seen.get(list);
    if (bodies !== undefined && list !== BRIEF) {
      let at = 0;
      for (const text of appliance.got) {
        const found = bodies.indexOf(text, at);
        must(found >= 0, `${appliance.name} got what the list was not, or not any more:\n${text}`);
        at = appliance.roams ? 0 : found;
      }
    }
    appliance.got = [];
  }
}

interface RuleTold {
  readonly kind: string;
  readonly rule_ref: string | null;
  readonly list_id: string | null;
  readonly reason: string;
  readonly expires_at: string | null;
}

async function readRules(manage: Client, query: string): Promise<RuleTold[]> {
  const rules: RuleTold[] = [];
  for (let after = ''; ; ) {
    const { rules: page, next } = told(await insist(() => manage.ask(`/v1/manage/rules?limit=1000&${query}${after}`), [200]));
    rules.push(...page);
    if (next === null) return rules;
    after = `&after=${encodeURIComponent(next)}`;
  }
}

/** Expiries that are as near as this are left to the next look, ms. */
const NEAR = 3000;

/** The rules of each list are those of its model. */
async function checkRules({ manage, models, expiries, world }: Scene, clockWasSet: boolean): Promise<void> {
  const expressions = (await Promise.all(['waf_rule', 'smart_firewall_rule'].map((kind) => readRules(manage, `kind=${kind}`)))).flat();
  for (const [list, model] of models) {
    const found = [...(await readRules(manage, `list=${list}`)), ...expressions.filter(({ rule_ref }) => rule_ref?.startsWith(`${list}-`))];
    const byReason = new Map(found.map((rule) => [rule.reason, rule]));
    must(byReason.size === found.length, `${list}: a rule is there twice`);
    const now = world.clock.now();
    for (const rule of model.rules()) {
      const there = byReason.get(rule.reason);
      byReason.delete(rule.reason);
      if (there !== undefined && rule.expiresAt !== null && clockWasSet) expiries.set(rule.reason, Date.parse(there.expires_at!));
      const [before, after] = [now - NEAR, now + NEAR].map((each) => isActive(rule, each, expiries));
      if (before !== after) continue;
      must(
        (there !== undefined) === before,
        `${list}: the rule ${rule.reason} is ${there === undefined ? 'lost' : 'there, and has expired'}`,
      );
      const expiry = expiries.get(rule.reason) ?? rule.expiresAt;
      if (expiry !== null && there !== undefined)
        must(Date.parse(there.expires_at!) === expiry, `${list}: ${rule.reason} expires at ${there.expires_at}`);
    }
    must(byReason.size === 0, `${list}: there are rules that should not be: ${[...byReason.keys()]}`);
  }
}

/** What is set is what was last acknowledged, or what was asked for without an answer. */
async function adoptSettings({ manage, set, settings, listIds }: Scene): Promise<void> {
  const feed = told(await insist(() => manage.ask('/v1/manage/feeds/mixed'), [200]));
  const workspace = told(await insist(() => manage.ask('/v1/manage/workspace'), [200]));
  const plain = (value: unknown) => JSON.stringify(value ?? 'off');
  const networks = (value: readonly string[]) => fewest(value).map(networkText);
  const present: Readonly<Record<string, unknown>> = { feed, workspace };
  for (const [name, tries] of settings) {
    const [what, field] = name.split(' ') as [string, string];
    const value = (present[what] as Record<string, unknown>)[field];
    const form = (each: unknown) =>
      plain(
        field === 'protect' ? networks(each as string[]) : field === 'lists' ? (each as string[]).map((id) => listIds.get(id) ?? id) : each,
      );
    const last = tries.findLastIndex(({ known }) => known);
    const possible = [
      ...(last < 0 ? [set.get(name)] : [tries[last]!.value]),
      ...tries.filter(({ known }) => !known).map((each) => each.value),
    ];
    const found = possible.find((each) => form(each) === form(value));
    must(found !== undefined || possible.includes(value), `${name} is ${form(value)}, and was set to ${possible.map(form)}`);
    set.set(name, found ?? null);
  }
  settings.clear();
}

function difference(wanted: string, held: string): string {
  const [should, has] = [wanted.split('\n'), held.split('\n')];
  return `lacks ${should.filter((each) => !has.includes(each))} and still has ${has.filter((each) => !should.includes(each))}`;
}

/** Feeds hold what they should, and so does whoever polls them. */
async function checkFeeds(scene: Scene): Promise<void> {
  const { world, appliances, bouncers, house, manage } = scene;
  const deadline = performance.now() + world.patience.feeds;
  const asked: unknown[] = [];
  await world.passTime();
  for (let tries = 1, askAt = performance.now() + ASK_EVERY; ; tries += 1) {
    const wrong = await look();
    if (wrong === undefined) break;
    const now = performance.now();
    if (now > deadline) {
      const source = await manage.ask('/v1/manage/sources/origin');
      throw new Violation(`${wrong}, after ${tries} looks; a refresh was answered ${asked}; the source: ${source?.body}`);
    }
    if (now > askAt) {
      askAt = now + ASK_EVERY;
      asked.push((await manage.ask('/v1/manage/sources/origin/refresh', { method: 'POST', body: {} }))?.status);
    }
    await sleep(200);
  }

  async function look(): Promise<string | undefined> {
    await Promise.all(appliances.map((each) => each.poll()));
    const now = house(world.clock.now());
    for (const { name, view, held, status } of appliances) {
      const body = bodyOf(view, now);
      if (body === undefined ? status !== 413 : held !== body) return `${name} (${status}) ${difference(body ?? '413', held ?? 'nothing')}`;
    }
    const wanted = networksOf('', now).map((each) => (isHost(each) ? networkText(each).replace(/\/.*/, '') : networkText(each)));
    for (const bouncer of bouncers) {
      const held = bouncer.held();
      const lacks = wanted.filter((each) => !held.has(each));
      // What could not be noted, because the disk was full, is not known after a start (D35.5).
      const mayStay = (told: number) => scene.wasFull && told <= UNNOTED;
      const has = [...held].filter(([each, told]) => !wanted.includes(each) && !mayStay(told)).map(([each]) => each);
      if (lacks.length + has.length > 0) return `a bouncer lacks ${lacks} and still has ${has}`;
    }
    const digest = await manage.ask('/v1/threat/feeds?checksum=md5');
    const body = bodyOf('', house(world.clock.now()))!;
    if (digest?.body.toString() !== createHash('md5').update(body).digest('hex')) return `the checksum is ${digest?.body}`;
    return undefined;
  }
}
