/** Traffic samples for testing rules (SPEC D21). */
import type { Author } from '../../account/caller.ts';
import type { SampleInfo, SampleLimit } from '../../account/sample.ts';
import type { ChangeOptions } from './account-store.ts';

/** JSON lines, in gzip, in parts of up to 1 MiB. */
export interface SampleContent {
  readonly requests: number;
  readonly bytes: number;
  readonly parts: readonly Uint8Array[];
}

export interface SampleReads {
  /** undefined: no sample. */
  sample(workspaceId: string): Promise<SampleInfo | undefined>;
  /** From 0; undefined after the last. Check the revision with `sample` afterwards: another one means other content. */
  samplePart(workspaceId: string, part: number): Promise<Uint8Array | undefined>;
}

export interface SampleWrites {
  /** The limit stays. */
  writeSample(workspaceId: string, content: SampleContent, by?: Author): Promise<SampleInfo>;
  /** Also without a sample. Rejects with CHANGED unless `ifMatch` matches. */
  limitSample(workspaceId: string, limit: Partial<SampleLimit>, options?: ChangeOptions): Promise<SampleInfo>;
  /** Whether there was one. */
  deleteSample(workspaceId: string, by?: Author): Promise<boolean>;
}
