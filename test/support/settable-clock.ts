/** Loaded into a weir before its code: the wall clock of all its threads is off by the ms in the file that CLOCK_FILE names. */
import { readFileSync } from 'node:fs';

const file = process.env.CLOCK_FILE;
const { now } = Date;
if (file !== undefined) Date.now = () => now() + Number(readFileSync(file, 'utf8'));
