import { operations } from '../../generated/operations.ts';
import { createContract } from '../../server/api/contract/contract.ts';

test('every operation of the document has validators that compile', async () => {
  const contract = await createContract({});
  expect(contract.operations).toHaveLength(Object.keys(operations).length);
  await expect(contract.warmUp()).resolves.toBeUndefined();
});

test('responses that are not checked are left out, and nothing else is', async () => {
  const whole = await createContract({});
  const lean = await createContract({}, { checksResponses: false });
  // Before they compile: openapi-backend changes the schemas of files then.
  expect(lean.operations).toEqual(whole.operations.map((operation) => ({ ...operation, responses: {} })));
  await expect(lean.warmUp()).resolves.toBeUndefined();
  const [first] = lean.operations;
  // Whoever checks one all the same is told.
  expect(first && lean.checkResponse(first, 200, {})).toBe('status 200 is not documented');
});
