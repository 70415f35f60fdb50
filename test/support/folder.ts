import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary folder that is removed when the test (or suite) ends. */
export function temporaryFolder(t: { after(work: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
