import { readDocument } from '../../core/document.ts';
import { API_PREFIX, type OperationId, operations } from '../../generated/operations.ts';
import type { Document } from '../../spec/rules/types.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { exampleRequest, operationIds, takesJson } from '../support/http/exampleRequest.ts';

/** The examples of VALIDATION_ERROR in the document are what the service answers, for every operation, served or not. */

const { examples = {} } = (readDocument() as Document).components ?? {};

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** Sends a valid request to the operation, with a field `colour` that it does not know. */
async function sendColour(id: OperationId): Promise<Response> {
  const { method, path, body } = exampleRequest(id);
  const headers: Record<string, string> = { 'X-Api-Key': app.workspace.apiKey };
  const send = (address: string, content?: string | FormData) =>
    fetch(app.origin + API_PREFIX + address, { method: method.toUpperCase(), headers, body: content ?? null });
  if (operations[id].requestBody === 'none') return send(`${path}${path.includes('?') ? '&' : '?'}colour=red`);
  if (takesJson(id)) {
    headers['Content-Type'] = 'application/json';
    return send(path, JSON.stringify({ ...(body as object), colour: 'red' }));
  }
  const form = new FormData();
  form.set('file', new File(['x'], 'x.txt'));
  form.set('colour', 'red');
  return send(path, form);
}

test.each(operationIds)('%s', async (id) => {
  const name = operations[id].requestBody === 'none' ? 'VALIDATION_ERROR' : 'VALIDATION_ERROR_IN_BODY';
  const { value } = examples[name] as { value: object };
  const response = await sendColour(id);
  expect(await response.json()).toEqual({ ...value, requestId: response.headers.get('x-request-id') });
});
