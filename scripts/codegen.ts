import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundle } from './bundle.ts';
import { apiModule } from './codegen/api.ts';
import { areasModule } from './codegen/areas.ts';
import { callsModule } from './codegen/calls.ts';
import { commandsModule, commandTableModule } from './codegen/commands.ts';
import { databaseFiles } from './codegen/database.ts';
import { staleFiles, writeFiles } from './codegen/files.ts';
import { handlersModule, surveyHandlers } from './codegen/handlers.ts';
import { apiPrefix, operationRows, operationsModule } from './codegen/operations.ts';
import { requestSchemasJson } from './codegen/requestSchemas.ts';
import { toolFiles } from './codegen/tools.ts';

const root = join(import.meta.dirname, '..');

/**
 * Writes generated/ from spec/, handlers/ and db/migrations/. With `--check` it writes nothing and fails when a file is
 * stale or when operations and handlers do not match.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      check: { type: 'boolean', default: false },
      'no-db': { type: 'boolean', default: false },
      spec: { type: 'string', default: join(root, 'spec') },
    },
  });
  const { notImplemented } = JSON.parse(await readFile(join(root, 'tests/spec/burn-down.json'), 'utf8'));
  const [document, database] = await Promise.all([
    bundle(values.spec, notImplemented),
    values['no-db'] ? undefined : databaseFiles(),
  ]);
  const rows = operationRows(document);
  const survey = surveyHandlers(root, rows, notImplemented);
  const openapi = `${JSON.stringify(document, null, 2)}\n`;
  const files: Record<string, string> = {
    'openapi.json': openapi,
    'api.ts': await apiModule(openapi),
    'calls.ts': callsModule(document),
    'operations.ts': operationsModule(apiPrefix(document), rows),
    'handlers.ts': handlersModule(survey),
    'requestSchemas.json': requestSchemasJson(document),
    ...toolFiles(document, rows),
    'commands.ts': commandsModule(document, rows),
    'commandTable.ts': commandTableModule(document, rows),
    'areas.ts': areasModule(document, rows),
    ...database,
  };
  const folder = join(root, 'generated');
  const stale = staleFiles(folder, files);
  if (!values.check) writeFiles(folder, files);
  const faults = [...survey.faults, ...(values.check ? stale : [])];
  if (values['no-db']) console.error('generated/db.ts and generated/schema.sql are left as they are (--no-db)');
  if (values.check) for (const fault of faults) console.error(fault);
  else if (faults.length > 0) console.error(`${faults.length} faults: npm run codegen:check lists them`);
  console.log(`${rows.length} operations, ${survey.implemented.length} handlers, ${survey.pending.length} pending`);
  if (values.check && faults.length > 0) process.exitCode = 1;
}

await main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
