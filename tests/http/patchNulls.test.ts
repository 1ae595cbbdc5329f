import { readDocument } from '../../core/document.ts';
import { operations } from '../../generated/operations.ts';
import { fieldsOf, takesNull } from '../../scripts/bundle/patchNulls.ts';
import type { Document, Operation } from '../../spec/rules/types.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { exampleRequest, operationIds } from '../support/http/exampleRequest.ts';

/** What the document says of `null` in PATCH bodies is what the service does, for every such operation, served or not. */

const document = readDocument() as Document;

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test.each(operationIds.filter((id) => operations[id].method === 'PATCH'))('%s', async (id) => {
  const { path } = exampleRequest(id);
  const operation = document.paths?.[operations[id].path]?.patch as Operation;
  const refused: string[] = [];
  for (const name of Object.keys(fieldsOf(document, operation))) {
    const { status, body } = await app.api('patch', path).send({ [name]: null });
    const isRefused =
      status === 400 && body.details.some((detail: { path: string }) => detail.path === `/body/${name}`);
    if (isRefused) refused.push(name);
  }
  const fields = Object.entries(fieldsOf(document, operation));
  expect(refused).toEqual(fields.filter(([, schema]) => !takesNull(document, schema)).map(([name]) => name));
});
