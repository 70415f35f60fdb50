import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diskFault, quotaFault } from './disk.ts';

test('D39.5 a disk without room for a write is told, one with room is not', () => {
  assert.equal(quotaFault({ bavail: 15, bsize: 4096 }), 'the disk of DATA_DIR is full');
  assert.equal(quotaFault({ bavail: 16, bsize: 4096 }), undefined);
  assert.equal(diskFault('.'), undefined);
});
