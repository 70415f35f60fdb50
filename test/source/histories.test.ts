/** Random histories of sources against a model, on both engines, with processes that take the lease from one another (SPEC D23.14 to D23.21). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Source } from '../../src/account/source.ts';
import type { Refresher } from '../../src/runtime/sources/refresher.ts';
import { EMBEDDED, type Engine } from '../contract/engine.ts';
import { temporaryFolder } from '../support/folder.ts';
import { address, bare, type ListServer, list, listServer } from '../support/list-server.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { seededRandom } from '../support/random.ts';
import { HOUR, type SourceWorld, sourceWorld } from '../support/source-world.ts';
import { eventually } from '../support/weir.ts';

const POSTGRES: Engine = {
  name: 'PostgreSQL',
  skip: noPostgres(),
  async open() {
    const postgres = await startPostgres();
    return { settings: { DATABASE_URL: await postgres.createDatabase() }, stop: () => postgres.stop() };
  },
};

/** What a source is to be, said once more and in few words. */
class Model {
  list = new Set<string>();
  #before = new Set<string>();
  #applied = '';
  held: string | undefined;
  #discarded = '';
  #isUndone = false;
  #after = new Set<string>();
  /** What undid the last refresh, as long as nothing else came. */
  undoing: readonly string[] | undefined;
  get isUndone() {
    return this.#isUndone;
  }
  /** Whether the last refresh has changed something, and stands. */
  get mayUndo() {
    return !this.#isUndone && this.list.symmetricDifference(this.#before).size > 0;
  }

  fetch(text: string): void {
    const isKnown = text === this.held || text === this.#discarded || text === this.#applied;
    if (isKnown && !this.#isUndone) {
      // What is held is needless where its origin has what was applied.
      if (text === this.#applied) this.held = undefined;
      return;
    }
    const next = new Set(text.trim().split('\n'));
    const [gone, come] = [this.list.difference(next).size, next.difference(this.list).size];
    const isHeld = this.#isUndone || gone * 2 > this.list.size || (this.list.size > 0 && come > 100 && come * 2 > this.list.size);
    if (gone + come === 0 || !(isHeld || isKnown)) this.#take(text, next);
    else if (!isKnown) this.held = text;
  }

  #take(text: string, next: Set<string>): void {
    [this.#before, this.list, this.#applied, this.held, this.#isUndone, this.undoing] = [
      this.list,
      next,
      text,
      undefined,
      false,
      undefined,
    ];
  }

  accept(): void {
    if (this.held !== undefined) this.#take(this.held, new Set(this.held.trim().split('\n')));
  }

  discard(): void {
    if (this.held !== undefined) [this.#discarded, this.held] = [this.held, undefined];
  }

  undo(batches: readonly string[]): void {
    [this.#after, this.list, this.#isUndone, this.undoing] = [this.list, this.#before, true, batches];
  }

  redo(): void {
    [this.list, this.#isUndone, this.undoing] = [this.#after, false, undefined];
  }
}

for (const engine of [EMBEDDED, POSTGRES])
  suite(`histories of sources on ${engine.name}`, { skip: engine.skip }, () => {
    const folder = temporaryFolder({ after });
    let world: SourceWorld;
    let server: ListServer;
    let opened: Awaited<ReturnType<Engine['open']>>;
    before(async () => {
      opened = await engine.open();
      world = await sourceWorld({ DATA_DIR: folder, ...opened.settings });
      server = await listServer();
    });
    after(async () => {
      await world[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      await opened.stop();
    });

    test('D23.17, D23.18, D44.10, D44.11, D44.12 contents, bad answers, accepting, discarding, undoing, undoing that, and other processes: the list is what the model has', async () => {
      const random = seededRandom(24);
      const names = ['one', 'two', 'three'];
      const models = new Map<Source, Model>();
      for (const name of names) models.set(await world.add(name, { url: `${server.url}/${name}` }), new Model());
      let holder: Refresher = world.refresher;
      const text = (from: number, size: number) => `${Array.from({ length: size }, (_, n) => address(from + n)).join('\n')}\n`;
      const contents = new Map<string, string>(names.map((name) => [name, text(0, 40)]));
      // An address without a content stops its source.
      for (const name of names) server.set(`/${name}`, list(text(0, 40)));
      for (let round = 0; round < 12; round += 1) {
        for (const [source, model] of models) {
          const path = `/${source.name}`;
          const kind = random.below(10);
          if (kind < 6) {
            const next = kind < 4 ? text(random.below(8), 40) : text(random.below(3) * 1000, 20 + random.below(300));
            contents.set(source.name, next);
            server.set(path, (kind % 2 === 0 ? list : bare)(next));
            model.fetch(next);
          } else if (kind === 6) {
            server.set(path, bare('<html>'));
          } else {
            server.set(path, list(contents.get(source.name)!));
            model.fetch(contents.get(source.name)!);
          }
        }
        if (random.below(4) === 0) {
          // Another process takes over: the time of the one before has run out.
          await holder.stop();
          holder = world.another();
        }
        world.pass(2 * HOUR);
        await world.run(holder);
        for (const [source, model] of models) {
          const known = holder.known.get(source.id)!.state;
          assert.equal(
            known.held !== null,
            model.held !== undefined,
            `${source.name}, round ${round}: ${known.held?.reason ?? known.fault}`,
          );
          const what = random.below(5);
          if (what === 0 && model.held !== undefined) {
            await world.ask(source, 'accept');
            model.accept();
          } else if (what === 1 && model.held !== undefined) {
            await world.ask(source, 'discard');
            model.discard();
          } else if (what === 2 && model.mayUndo && known.replacement !== null) {
            model.undo(await world.undo(known.replacement));
          } else if (what === 3 && model.undoing !== undefined) {
            await world.undo(model.undoing);
            model.redo();
          }
        }
        await world.run(holder);
        for (const [source, model] of models) {
          assert.deepEqual(await world.rules(source), [...model.list].sort(), `${source.name}, round ${round}`);
          const { state } = await world.record(source);
          assert.deepEqual([state.undone !== null, state.entries], [model.isUndone, model.list.size], `${source.name}, round ${round}`);
        }
      }
      assert.ok([...server.most.values()].every((most) => most === 1));
    });

    test('D23.9, D23.21 a process that has slept while another took over writes nothing, and what it had begun does no harm', async () => {
      const text = (from: number) => `${Array.from({ length: 50 }, (_, n) => address(from + n)).join('\n')}\n`;
      const { store, workspaceId } = { ...world.base, ...world };
      for (const { source } of (await store.sourcePage(workspaceId, { after: null, limit: 9 })).items)
        await store.pauseSource(workspaceId, source.id, true);
      const source = await world.add('slept', { url: `${server.url}/slept` });
      server.set('/slept', list(text(0)));
      const [first, second] = [world.another(), world.another()];
      await world.loseLease();
      await world.run(first);
      assert.deepEqual([first.known.size > 0, (await world.rules(source)).length], [true, 50]);
      await world.run(second);
      assert.equal(second.known.size, 0);
      // The first one sleeps with an answer in its hands until the second has applied a newer content.
      const answered = Promise.withResolvers<void>();
      server.set('/slept', (_, response) => {
        response.write(text(1));
        void answered.promise.then(() => response.end());
      });
      world.pass(2 * HOUR);
      const asked = server.asked.get('/slept')!;
      await first.tick(true);
      await eventually(() => assert.equal(server.asked.get('/slept'), asked + 1));
      await world.loseLease();
      server.set('/slept', list(text(2)));
      await world.run(second);
      const newest = await world.rules(source);
      assert.ok(newest.includes(address(51)));
      answered.resolve();
      await first.idle();
      await first.tick(true);
      assert.deepEqual([await world.rules(source), first.known.size], [newest, 0]);
      assert.deepEqual((await world.record(source)).state.digest, second.known.get(source.id)!.state.digest);
      assert.equal((await store.sourceRuns(workspaceId, source.id)).length, 2);
    });
  });
