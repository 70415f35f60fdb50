// `node scripts/kind-tables.mjs TABLE`: the migration of a new kind of rule with an expression, in the SQL of both dialects: the table of its
// rules and that of their previous versions, with all columns and indexes of those of WAF rules.
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

const [table] = process.argv.slice(2);
const folder = new URL('../src/store/migrations/', import.meta.url);
const later = globSync(['*.sql', 'postgres/*.sql'], { cwd: folder }).sort((a, b) => (basename(a) < basename(b) ? -1 : 1));
const schema = ['base/rules.sql', ...later].map((path) => readFileSync(new URL(path, folder), 'utf8')).join('\n');
const statements = schema.match(/^(CREATE TABLE|CREATE INDEX|ALTER TABLE) waf_rules\w* .*?;$/gms);
console.log(statements.join('\n').replaceAll('waf_rules', table));
