/** Devices (SPEC D16.7 to D16.12). */
import type { DeviceDocument, DeviceState, SeenDevice } from '../account/device.ts';

export interface Device extends Omit<DeviceState, 'countedFrom' | 'counted' | 'documents'> {
  readonly workspaceId: string;
  /** Usual interval between polls, ms; null: not known. */
  readonly interval: number | null;
  readonly documents: readonly NamedDocument[];
}

export interface NamedDocument extends DeviceDocument {
  /** When its newest content appeared, whole seconds; null: not known. */
  readonly newestModified: number | null;
  /** Time of the latest rule read that produced this content, ms; null: not known. */
  readonly confirmedAt: number | null;
}

export interface DevicePage {
  readonly keyId?: string;
  /** Last polled at or after, ms. */
  readonly since?: number;
  readonly after?: string;
  readonly limit: number;
}

/** Devices that used an invalid key; `hash` is its SHA-256. The store knows whether the key ever existed. */
export interface RefusedDevice {
  readonly hash: Uint8Array;
  readonly seen: Omit<SeenDevice, 'keyId' | 'workspaceId'>;
}

export interface SeenDevices {
  /** An iterable to read once. Creates each item on demand. */
  readonly devices: Iterable<SeenDevice>;
  readonly refused: readonly RefusedDevice[];
}

export interface DeviceNotes {
  take(): SeenDevices;
  /** Likewise, only new devices: not seen between the two previous calls. */
  takeNew(): SeenDevice[];
  onNew(call: () => void): void;
}

export interface KeyName {
  readonly keyId: string;
  readonly workspaceId: string;
}

/** A device or streaming bouncer that stopped polling; `id` is unique in its workspace. */
export interface Stopped {
  readonly kind: 'device' | 'bouncer';
  readonly id: string;
  readonly workspaceId: string;
  readonly keyId: string;
  readonly userAgent: string;
  readonly address: string;
  /** Null: the key has no name. */
  readonly keyName: string | null;
  /** Names of its feeds; null: the workspace's feed. */
  readonly feeds: readonly (string | null)[];
  /** ms */
  readonly lastPull: number;
}

/** Reported per kind. */
export const MOST_STOPPED = 100;
/** A streaming bouncer counts as stopped after this time without a poll, ms, if it had polled for as long. */
export const BOUNCER_PATIENCE = 3_600_000;

export interface DeviceReads {
  /**
   * Clients that stopped within the day before `now` (ms), in one workspace or in all (null), latest first; up to MOST_STOPPED per kind.
   */
  stoppedClients(workspaceId: string | null, now: number): Promise<Stopped[]>;
  devices(workspaceId: string, page: DevicePage): Promise<Device[]>;
  /** The number of devices that poll regularly, and of those that stopped since an instant (ms) and have not resumed. */
  deviceCounts(since: number): Promise<{ readonly pulling: number; readonly stopped: number }>;
  /** The workspace of a key, valid or not; undefined: no such key. */
  workspaceOfKey(keyId: string): Promise<string | undefined>;
  /** The keys with these SHA-256, revoked and expired ones too, by their index in `hashes`. */
  keysByHash(hashes: readonly Uint8Array[]): Promise<ReadonlyMap<number, KeyName>>;
}

export interface DeviceWrites {
  /**
   * Merges the observations. A workspace retains the 5,000 devices that polled last. Returns the stopped devices that resumed, in their
   * previous state.
   */
  noteDevices(seen: readonly SeenDevice[]): Promise<Device[]>;
  /**
   * Marks the devices that are overdue at `now` (ms) and returns each once across all processes. Ignores devices whose silence is no longer
   * than `running` ms: the service itself may have been down. Retains `most` devices in all (50,000 by default); a workspace below its
   * share loses none.
   */
  markStopped(at: { readonly now: number; readonly running: number; readonly most?: number }): Promise<Device[]>;
}
