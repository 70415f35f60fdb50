import { writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import ipaddr from 'ipaddr.js';
import { compileSources } from '../../src/geo/compile.ts';
import type { GeoKindData } from '../../src/geo/data.ts';
import type { GeoKind } from '../../src/geo/kind.ts';
import { sourcesOf } from '../../src/geo/sources.ts';
import { familyTables } from '../../src/geo/table.ts';
import type { GeoRanges } from '../../src/ports/geo.ts';

/** A folder that holds these files and goes with the test. */
export async function folderOf(t: TestContext, files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-geo-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await Promise.all(Object.entries(files).map(([name, content]) => writeFile(join(folder, name), content)));
  return folder;
}

/** Compiles the first of these files in this thread. */
export async function compileFiles(
  t: TestContext,
  kind: GeoKind,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<GeoKindData> {
  const folder = await folderOf(t, files);
  return compileSources(await sourcesOf(kind, 'own', join(folder, Object.keys(files)[0])));
}

/** Ranges as `first-last` texts, IPv4 before IPv6. */
export function rangeTexts({ v4, v6 }: GeoRanges): string[] {
  const texts: string[] = [];
  const add = (words: Uint32Array, width: number) => {
    for (let at = 0; at < words.length; at += 2 * width) {
      texts.push(`${addressText(words.subarray(at, at + width))}-${addressText(words.subarray(at + width, at + 2 * width))}`);
    }
  };
  add(v4, 1);
  add(v6, 4);
  return texts;
}

/** All ranges of compiled data by key: country code or AS number. */
export function rangesByKey({ kind, table }: GeoKindData): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  const none = new Uint32Array();
  const { v4, v6 } = familyTables(table);
  const nameOf = (key: number) => (kind === 'asn' ? `AS${key}` : String.fromCharCode(65 + Math.floor(key / 26), 65 + (key % 26)));
  for (const [family, { keys, offsets, ranges }] of [[4, v4] as const, [6, v6] as const]) {
    const words = family === 4 ? 2 : 8;
    keys.forEach((key, i) => {
      const view = ranges.subarray(offsets[i] * words, offsets[i + 1] * words);
      const texts = rangeTexts(family === 4 ? { v4: view, v6: none } : { v4: none, v6: view });
      found[nameOf(key)] = [...(found[nameOf(key)] ?? []), ...texts];
    });
  }
  return found;
}

function addressText(words: Uint32Array): string {
  const bytes = [...words].flatMap((word) => [word >>> 24, (word >>> 16) & 255, (word >>> 8) & 255, word & 255]);
  return ipaddr.fromByteArray(bytes).toString();
}

/** Settings that name geo data of a few rows, written into `folder`: a start without the packaged million. */
export function smallGeo(folder: string): { GEO_COUNTRY_FILE: string; GEO_ASN_FILE: string } {
  const [GEO_COUNTRY_FILE, GEO_ASN_FILE] = ['country.csv', 'asn.csv'].map((name) => join(folder, name));
  writeFileSync(GEO_COUNTRY_FILE, '192.0.2.0,192.0.2.255,DE\n');
  writeFileSync(GEO_ASN_FILE, '198.51.100.0,198.51.100.255,64500,Example\n');
  return { GEO_COUNTRY_FILE, GEO_ASN_FILE };
}
