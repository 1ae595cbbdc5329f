import { CAPABILITIES } from '../../runtime/capabilities/table.ts';
import { capabilityTokens, TOKEN_BUDGETS } from '../../scripts/bench/capabilities.ts';

test('no capability takes more tokens of each request than its budget', async () => {
  const found = await capabilityTokens();
  const over = found.filter(({ name, section, tools }) => section + tools > (TOKEN_BUDGETS[name] ?? 0));
  expect(over).toEqual([]);
  // A budget with much room would hold nothing back.
  const loose = found.filter(({ name, section, tools }) => (section + tools) * 1.15 + 10 < (TOKEN_BUDGETS[name] ?? 0));
  expect(loose).toEqual([]);
});

test('every capability with texts of its own has a budget', async () => {
  const linkedAlone = ['httpTools'];
  const own = CAPABILITIES.map(({ name }) => name).filter((name) => !linkedAlone.includes(name));
  expect((await capabilityTokens()).map(({ name }) => name)).toEqual(own);
  expect(Object.keys(TOKEN_BUDGETS)).toEqual(own);
});

test('the components of show_ui are described in few tokens', async () => {
  const ui = (await capabilityTokens()).find(({ name }) => name === 'generativeUi');
  // It had 519, as JSON.
  expect(ui?.tools).toBeLessThan(365);
});
