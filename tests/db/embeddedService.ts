import { startEmbedded } from '../../db/embedded.ts';

// A process that stands in for the service in embedded.test.ts: `node embeddedService.ts <data folder> <wait in ms>`.
const [, , dataDir = '', waitMs] = process.argv;
const postgres = await startEmbedded({ dataDir, waitMs: Number(waitMs) });
process.once('SIGTERM', () => {
  postgres.stop().then(() => process.exit(0));
});
postgres.onExit((reason) => {
  console.log(JSON.stringify({ exit: reason }));
  process.exit(3);
});
console.log(JSON.stringify({ url: postgres.url(), port: postgres.port }));
