import { EMBEDDED } from './engine.ts';
import { operatorContract } from './operators.ts';

operatorContract(EMBEDDED);
