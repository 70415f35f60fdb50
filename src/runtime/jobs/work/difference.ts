import { type DifferenceAsked, feedDifference } from '../../../feed/whatif/difference/difference.ts';
import { type ReadingData, reading } from './reading.ts';

export interface DifferenceData extends ReadingData {
  readonly workspaceId: string;
  readonly asked: DifferenceAsked;
}

export const serve = ({ workspaceId, asked, ...data }: DifferenceData) =>
  reading(data, (parts) => feedDifference(workspaceId, asked, parts));
