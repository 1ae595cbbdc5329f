import { runAdmin } from './admin/run.ts';

// What the console does, for a terminal: `npm run admin -- <noun> <verb> …`. Works whether or not the service runs.
// As server/main.ts: it makes keys and files of the data folder, too.
process.umask(0o077);
process.exitCode = await runAdmin(process.argv.slice(2), process.env, { out: console.log, err: console.error });
