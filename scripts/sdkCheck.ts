import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { killChildren } from './bench/children.ts';
import { checkGenerator, judgeResults, type Result } from './sdkCheck/check.ts';
import { generators } from './sdkCheck/generators.ts';
import { startGuildhall } from './sdkCheck/service.ts';
import { STEPS } from './sdkCheck/steps.ts';

/*
 * Generates clients from the document, compiles them, and uses them against a running service. Whether a client really did what it says
 * is read from the service.
 */
const USAGE = `Usage: npm run sdk:check -- [NAME]… [--all] [--required] [--document FILE] [--keep FOLDER]

  NAME             one of: ${generators.map(({ name }) => name).join(', ')}
                   without a name: those that need nothing but npm ci
  --all            all of them
  --required       fails when a generator is skipped because the machine lacks a tool
  --document FILE  another document than generated/openapi.json
  --keep FOLDER    writes the clients there, and leaves them

SDK_CHECK_MAVEN_REPOSITORY is where openapi-generator comes from: default Maven Central. Other packages come from where pip, go, mvn and
cargo are told to look.`;

const ROOT = join(import.meta.dirname, '..');
/** Of each compiler so many warnings are shown. */
const MAX_WARNINGS = 5;
/** Outside of node_modules, which `npm ci` removes. */
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'guildhall-sdk-check');

async function main(): Promise<void> {
  const { values: options, positionals: names } = parseArgs({
    allowPositionals: true,
    options: {
      all: { type: 'boolean', default: false },
      required: { type: 'boolean', default: false },
      document: { type: 'string', default: join(ROOT, 'generated/openapi.json') },
      keep: { type: 'string' },
    },
  });
  const unknown = names.filter((name) => !generators.some((generator) => generator.name === name));
  if (unknown.length > 0) throw new Error(`There is no generator ${unknown.join(', ')}.\n${USAGE}`);
  const chosen = generators.filter(({ name, fast }) => options.all || (names.length > 0 ? names.includes(name) : fast));

  const scratch = await mkdtemp(join(tmpdir(), 'guildhall-sdk-'));
  const folder = options.keep ? resolve(options.keep) : join(scratch, 'clients');
  await mkdir(folder, { recursive: true });
  // The clients in TypeScript find their packages and the types of Node there.
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules')).catch((error) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const results: Result[] = [];
  const guildhall = await startGuildhall(scratch);
  try {
    for (const generator of chosen) {
      const place = {
        document: resolve(options.document),
        folder: join(folder, generator.name),
        cache: CACHE,
      };
      const result = await checkGenerator(generator, place, guildhall);
      results.push(result);
      print(result);
    }
    await guildhall.stop();
  } finally {
    killChildren();
    await rm(scratch, { recursive: true, force: true });
  }
  const { line, failed } = judgeResults(results, options.required);
  console.log(line);
  if (failed) process.exitCode = 1;
}

function print({ name, outcome, reason, seconds, steps, warnings = [] }: Result): void {
  const times = Object.entries(seconds).map(([stage, value]) => `${stage} ${value} s`);
  if (outcome === 'skipped') console.log(`SKIPPED ${name}: ${reason}`);
  else console.log(`${outcome === 'passed' ? 'passed' : 'FAILED'} ${name} (${times.join(', ')})`);
  if (outcome === 'failed') console.log(`  ${reason}`);
  for (const line of warnings.slice(0, MAX_WARNINGS)) console.log(`  the compiler warns: ${line.slice(0, 200)}`);
  for (const step of STEPS) if (steps && steps[step] !== 'ok') console.log(`  ${step}: ${steps[step]}`);
}

await main().catch((error) => {
  killChildren();
  console.error(error.message);
  process.exitCode = 1;
});
