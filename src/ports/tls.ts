export interface TlsMaterial {
  readonly cert: string;
  readonly key: string;
  /** CAs for client certificates; undefined: none are requested. */
  readonly ca: string | undefined;
}

export interface TlsSource {
  current(): TlsMaterial;
  onChange(use: (material: TlsMaterial) => void): void;
}
