// Long: every operation of the documents of GitHub and Stripe is imported.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { schemaForModel } from '../../../../runtime/agent/modelSchema.ts';
import { readApiDocument } from '../../../../runtime/tools/openapi/documentText.ts';
import { candidatesOf } from '../../../../runtime/tools/openapi/operations.ts';
import { apiDocument } from '../../../support/apiDocuments/apiDocuments.ts';
import { importFrom } from '../../../support/tools/openapiDocuments.ts';

/** Imports every operation of a document. Faults are counted by their message. */
async function importAll(bytes: Uint8Array) {
  const read = await readApiDocument(bytes);
  if ('problem' in read) throw new Error(read.problem);
  const document = read.value as Record<string, unknown>;
  const wanted = [...candidatesOf(document).byName.keys()];
  const { endpoints, faults } = importFrom(document, { wanted });
  return { wanted, endpoints, faults: [...new Set(faults.map(({ message }) => message))].sort() };
}

test.each([
  ['github', 1223, []],
  // They upload files.
  ['stripe', 594, ['takes a file: files are not supported']],
] as const)('%s: all of %i operations but those that it refuses', async (name, operations, refused) => {
  const { wanted, endpoints, faults } = await importAll(apiDocument(name));
  expect(wanted).toHaveLength(operations);
  expect(faults).toEqual(refused);
  expect(operations - endpoints.length).toBe(refused.length);
  for (const { operationId, description, inputSchema } of endpoints) {
    const told = [operationId, description.length <= 700, JSON.stringify(schemaForModel(inputSchema)).length <= 12_000];
    expect(told).toEqual([operationId, true, true]);
    expect(/<(?:p|a|code|br)[ >]|\]\(http/.test(description)).toBe(false);
  }
});

const EXAMPLES = join(import.meta.dirname, '../../../../node_modules/@readme/oas-examples');
test.each(globSync('{2.0,3.0,3.1}/{json,yaml}/**/*.{json,yaml}', { cwd: EXAMPLES }).sort())('%s', async (file) => {
  const { wanted, endpoints, faults } = await importAll(readFileSync(join(EXAMPLES, file)));
  expect(faults).toEqual([]);
  expect(endpoints).toHaveLength(wanted.length);
});
