import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { storeConformance } from '../conformance/store.ts';
import { temporaryFolder } from '../support/folder.ts';

storeConformance({
  name: 'sqlite',
  async open(t) {
    const folder = temporaryFolder(t);
    const open = async () => {
      const store = await openSqliteStore(folder);
      t.after(() => store.close());
      return store;
    };
    const query = async (text: string) => {
      using db = new DatabaseSync(join(folder, 'weir.db'), { readOnly: true });
      return db.prepare(text).all();
    };
    return { store: await open(), again: open, query };
  },
});
