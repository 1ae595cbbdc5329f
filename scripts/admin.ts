import { runAdmin } from './admin/run.ts';

// What the console does, for a terminal: `npm run admin -- <noun> <verb> …`. Works whether or not the service runs.
process.exitCode = await runAdmin(process.argv.slice(2), process.env, { out: console.log, err: console.error });
