import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OperationRow } from './operations.ts';

/** The operations that have a handler file, and the faults of the set of handlers. */
export type HandlerSurvey = { implemented: OperationRow[]; pending: string[]; faults: string[] };

/** Looks in handlers/ for one file for each operation: handlers/<tag in kebab case>/<operationId>.ts. */
export function surveyHandlers(root: string, rows: OperationRow[], notImplemented: string[]): HandlerSurvey {
  const known = new Map(rows.map((row) => [row.operationId, row]));
  const implemented = rows.filter((row) => existsSync(join(root, handlerFile(row))));
  const present = new Set(implemented.map((row) => row.operationId));
  const faults: string[] = [];
  for (const { operationId } of rows)
    if (!present.has(operationId) && !notImplemented.includes(operationId))
      faults.push(`${operationId} has neither a handler nor an entry in notImplemented of tests/spec/burn-down.json`);
  for (const operationId of notImplemented) {
    if (!known.has(operationId))
      faults.push(`notImplemented of tests/spec/burn-down.json: ${operationId} is no operation`);
    if (present.has(operationId))
      faults.push(`notImplemented of tests/spec/burn-down.json: ${operationId} has a handler`);
  }
  for (const file of globSync('handlers/*/*.ts', { cwd: root })) {
    for (const [, name = ''] of readFileSync(join(root, file), 'utf8').matchAll(/^export const (\w+): Handler</gm)) {
      const row = known.get(name);
      if (!row) faults.push(`${file}: ${name} is the handler of no operation`);
      else if (handlerFile(row) !== file.replaceAll('\\', '/'))
        faults.push(`${file}: ${name} belongs into ${handlerFile(row)}`);
    }
  }
  const pending = rows.map((row) => row.operationId).filter((id) => !present.has(id) && notImplemented.includes(id));
  return { implemented, pending, faults };
}

function handlerFile(row: OperationRow): string {
  return `handlers/${row.folder}/${row.operationId}.ts`;
}

/** The text of generated/handlers.ts. It does not type-check when a handler is missing that is not pending. */
export function handlersModule({ implemented, pending }: HandlerSurvey): string {
  const imports = implemented.map((row) => `import { ${row.operationId} } from '../${handlerFile(row)}';`);
  return `// Written by \`npm run codegen\` from spec/ and handlers/. Do not edit.
${["import type { Handler } from '../handlers/handler.ts';", ...imports].toSorted().join('\n')}
import type { OperationId } from './operations.ts';

const waiting = [
${pending.map((id) => `  '${id}',`).join('\n')}
] as const satisfies readonly OperationId[];

/** Operations of the document that have no handler yet. They return 501. */
export const pending: readonly OperationId[] = waiting;

/** An operation that has a handler. */
export type ImplementedId = Exclude<OperationId, (typeof waiting)[number]>;

/** The handler of every operation that is not pending. */
export const handlers: { readonly [Id in ImplementedId]: Handler<Id> } = {
${implemented.map((row) => `  ${row.operationId},`).join('\n')}
};
`;
}
