import { startModelServer } from './modelServer.ts';

/*
 * The model server as a process of its own, for load tests: `node tests/support/servers/modelServerCli.ts [PORT]`. It keeps no
 * requests, answers at once, prints its base address on one line, and ends on SIGTERM.
 */
const server = await startModelServer({ record: false, port: Number(process.argv[2] ?? 0) });
process.stdout.write(`${server.url}\n`);
process.once('SIGTERM', () => void server.close());
