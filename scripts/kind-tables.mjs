// `node scripts/kind-tables.mjs TABLE DIALECT`: the migration of a new kind of rule with an expression, its rules and what they were before,
// with all columns and indexes that those of WAF rules have by now.
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

const [table, dialect] = process.argv.slice(2);
const folder = new URL(`../src/store/migrations/${dialect}/`, import.meta.url);
const schema = readdirSync(folder, { recursive: true })
  .filter((path) => path.endsWith('.sql'))
  .sort((a, b) => (basename(a) < basename(b) ? -1 : 1))
  .map((path) => readFileSync(new URL(path, folder), 'utf8'))
  .join('\n');
const statements = schema.match(/^(CREATE TABLE|CREATE INDEX|ALTER TABLE) waf_rules\w* .*?;$/gms);
console.log(statements.join('\n').replaceAll('waf_rules', table));
