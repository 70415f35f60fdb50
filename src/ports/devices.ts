/** Devices (SPEC D16.7 to D16.12). */
import type { DeviceDocument, DeviceState, SeenDevice } from '../account/device.ts';

export interface Device extends Omit<DeviceState, 'countedFrom' | 'counted' | 'documents'> {
  readonly workspaceId: string;
  /** Usual, between polls, ms; null: not known. */
  readonly interval: number | null;
  readonly documents: readonly NamedDocument[];
}

export interface NamedDocument extends DeviceDocument {
  /** Whole seconds; null: not known. */
  readonly newestModified: number | null;
  /** The latest rule read that produced this content, ms; null: not known. */
  readonly confirmedAt: number | null;
}

export interface DevicePage {
  readonly keyId?: string;
  /** ms. */
  readonly since?: number;
  readonly after?: string;
  readonly limit: number;
}

/** `hash`: SHA-256 of the invalid key. The store knows whether the key ever existed. */
export interface RefusedDevice {
  readonly hash: Uint8Array;
  readonly seen: Omit<SeenDevice, 'keyId' | 'workspaceId'>;
}

export interface SeenDevices {
  /** To read once. Creates each item on demand. */
  readonly devices: Iterable<SeenDevice>;
  readonly refused: readonly RefusedDevice[];
}

export interface DeviceNotes {
  take(): SeenDevices;
  /** Those not seen between the two previous calls. */
  takeNew(): SeenDevice[];
  onNew(call: () => void): void;
}

export interface KeyName {
  readonly keyId: string;
  readonly workspaceId: string;
}

/** `id` is unique in its workspace. */
export interface Stopped {
  readonly kind: 'device' | 'bouncer';
  readonly id: string;
  readonly workspaceId: string;
  readonly keyId: string;
  readonly userAgent: string;
  readonly address: string;
  /** Null: the key has no name. */
  readonly keyName: string | null;
  /** null: the workspace's. */
  readonly feeds: readonly (string | null)[];
  /** ms */
  readonly lastPull: number;
}

/** Reported per kind. */
export const MOST_STOPPED = 100;
/** Polled for as long, then stopped for as long, ms. */
export const BOUNCER_PATIENCE = 3_600_000;

export interface DeviceReads {
  /** Within the day before `now` (ms), in one workspace or in all (null), latest first; up to MOST_STOPPED per kind. */
  stoppedClients(workspaceId: string | null, now: number): Promise<Stopped[]>;
  devices(workspaceId: string, page: DevicePage): Promise<Device[]>;
  /** Devices that poll regularly, and those that stopped since an instant (ms) and have not resumed. */
  deviceCounts(since: number): Promise<{ readonly pulling: number; readonly stopped: number }>;
  /** Of a key, valid or not; undefined: no such key. */
  workspaceOfKey(keyId: string): Promise<string | undefined>;
  /** By index in `hashes` (SHA-256), with revoked and expired keys. */
  keysByHash(hashes: readonly Uint8Array[]): Promise<ReadonlyMap<number, KeyName>>;
}

export interface DeviceWrites {
  /** A workspace retains the 5,000 devices that polled last. Returns the stopped devices that resumed, in their previous state. */
  noteDevices(seen: readonly SeenDevice[]): Promise<Device[]>;
  /**
   * Marks devices overdue at `now` (ms) and returns each once across all processes; not those silent for `running` ms or less: the service
   * itself may have been down. Retains `most` devices in all (50,000 by default); a workspace below its share loses none.
   */
  markStopped(at: { readonly now: number; readonly running: number; readonly most?: number }): Promise<Device[]>;
}
