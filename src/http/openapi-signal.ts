export const signalApi = (baseUrl: string) => ({
  openapi: '3.1.0' as const,
  info: { title: 'x', version: '1' },
  servers: [{ url: baseUrl }],
  paths: {},
});
