import { workerData } from 'node:worker_threads';
import { feedDifference } from '../../../feed/whatif/difference/difference.ts';
import { reading } from '../reading.ts';
import type { DifferenceData } from './difference.ts';

const { workspaceId, asked, ...data } = workerData as DifferenceData;
reading(data, (parts) => feedDifference(workspaceId, asked, parts));
