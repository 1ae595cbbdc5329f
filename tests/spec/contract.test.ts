import { operations } from '../../generated/operations.ts';
import { createContract } from '../../server/api/contract/contract.ts';

test('every operation of the document has validators that compile', async () => {
  const contract = await createContract({});
  expect(contract.operations).toHaveLength(Object.keys(operations).length);
  await expect(contract.warmUp()).resolves.toBeUndefined();
});
