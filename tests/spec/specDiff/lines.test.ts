import { fieldOf, linesOfChange, operationOf, schemaOf } from './realDocument.ts';

test('a new error code is one line, wherever it is answered', () => {
  const changes = linesOfChange((d) => {
    (schemaOf(d, 'ErrorCode')['x-extensible-enum'] as string[]).push('AGENT_BUSY');
    for (const id of ['createAgent', 'publishAgent']) operationOf(d, id)['x-error-codes']?.['409']?.push('AGENT_BUSY');
  });
  expect(changes.map(({ kind, where, what }) => `${kind} ${where}  ${what}`)).toEqual([
    'addition createAgent, publishAgent 409  error code `AGENT_BUSY` is new',
  ]);
});

test('an error code that has another name everywhere breaks those who branch on it', () => {
  const changes = linesOfChange((d) =>
    Object.assign(d, JSON.parse(JSON.stringify(d).replaceAll('"AGENT_NOT_FOUND"', '"AGENT_MISSING"'))),
  );
  expect(changes[0]).toMatchObject({
    kind: 'breaking',
    what: expect.stringContaining('error code `AGENT_NOT_FOUND` is gone, `AGENT_MISSING` is new'),
  });
});

test('the same change of many fields is one line', () => {
  const changes = linesOfChange((d) => {
    for (const name of ['AgentCreate', 'AgentUpdate', 'PlanCreate', 'PlanUpdate', 'CouponCreate'])
      fieldOf(d, `${name}.name`).maxLength = 7;
  });
  expect(changes.every(({ where, what }) => where === 'fields' || / → 7/.test(what))).toBe(true);
});

test('texts, examples, the version and the order of things are no change', () => {
  expect(
    linesOfChange((d) => {
      Object.assign(d.info as object, { version: '9.9.9', title: 'Other' });
      operationOf(d, 'listAgents').parameters?.reverse();
      Object.assign(operationOf(d, 'listAgents'), { summary: 'Other', description: 'Other' });
      Object.assign(fieldOf(d, 'Agent.systemPrompt'), { description: 'Other', examples: ['x'] });
      schemaOf(d, 'Agent').required.reverse();
      schemaOf(d, 'AgentStatus').enum?.reverse();
      d.components = Object.fromEntries(Object.entries(d.components ?? {}).reverse());
    }),
  ).toEqual([]);
});
