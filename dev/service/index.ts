export * from './index.cts';
