/** What clients of the feeds may rely on, over real HTTP; every engine runs it. */
import { after, before, suite } from 'node:test';
import { temporaryFolder } from '../support/folder.ts';
import { capTests } from './feeds/cap.ts';
import { contentTests } from './feeds/content.ts';
import { errorTests } from './feeds/errors.ts';
import { formatTests } from './feeds/formats.ts';
import { listTests } from './feeds/lists.ts';
import { representationTests } from './feeds/representations.ts';
import { timeTests } from './feeds/time.ts';
import { type FeedWorld, startFeedWorld } from './feeds/world.ts';
import type { Engine } from './signals.ts';

export function feedContract(name: string, open: () => Promise<Engine>, skip: string | false = false): void {
  suite(`feeds on ${name}`, { skip, timeout: 240_000 }, () => {
    let engine: Engine;
    let world: FeedWorld;
    const cleanup: (() => void)[] = [];

    before(async () => {
      engine = await open();
      world = await startFeedWorld(engine.settings, temporaryFolder({ after: (work) => cleanup.push(work) }));
    });
    after(async () => {
      await world?.stop();
      for (const work of cleanup) work();
      await engine?.stop();
    });

    const feeds = () => world;
    contentTests(feeds);
    formatTests(feeds);
    representationTests(feeds);
    listTests(feeds);
    capTests(feeds);
    errorTests(feeds);
    timeTests(feeds);
  });
}
