import { type ToolChoice, toolSet, UnknownChoice } from '../../../../clients/mcp/tools/index.ts';

const names = (choice: ToolChoice): string[] =>
  toolSet(choice)
    .list()
    .map(({ name }) => name);

function refusal(choice: ToolChoice): string {
  try {
    toolSet(choice);
  } catch (error) {
    expect(error).toBeInstanceOf(UnknownChoice);
    return (error as Error).message;
  }
  throw new Error('The choice was taken.');
}

describe('tags', () => {
  test.each(['Agents', 'agents', 'AGENTS'])('%s chooses the tools of the tag', (tag) => {
    expect(names({ tags: [tag] })).toHaveLength(6);
  });

  test.each(['External MCPs', 'external-mcps', 'external_mcps', 'externalMcps'])(
    '%s may be written in any way',
    (tag) => {
      expect(names({ tags: [tag] }).every((name) => name.startsWith('external_mcps__'))).toBe(true);
    },
  );

  test('several are offered together, in the order of the document', () => {
    expect(names({ tags: ['hub', 'agents'] })).toEqual(names({}).filter((name) => /^(agents|hub)__/.test(name)));
  });

  test('an unknown one is refused with the nearest, or with all', () => {
    expect(refusal({ tags: ['Agnets'] })).toBe('There is no tag "Agnets". Did you mean "Agents"?');
    expect(refusal({ tags: ['zzzzzz'] })).toContain('The tags are: Public API, Agents, ');
  });
});

describe('tools', () => {
  test('are chosen by their names or by operationIds', () => {
    expect(names({ tools: ['messages__send_message', 'listAgents'] })).toEqual([
      'agents__list_agents',
      'messages__send_message',
    ]);
  });

  test('an unknown one is refused with the nearest', () => {
    expect(refusal({ tools: ['agents__create_agnt'] })).toContain('Did you mean "agents__create_agent"?');
    expect(refusal({ tools: ['sendMesage'] })).toContain('Did you mean "messages__send_message"?');
    expect(refusal({ tools: ['streamMessage'] })).toContain('There is no tool "streamMessage".');
  });
});

test('read-only leaves out whatever changes something', () => {
  const reading = toolSet({ readOnly: true }).list();
  expect(reading.length).toBeGreaterThan(50);
  expect(reading.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
});

test('choices combine, and one that leaves nothing is refused', () => {
  expect(names({ tags: ['Agents'], readOnly: true })).toEqual(['agents__list_agents', 'agents__get_agent']);
  expect(refusal({ tags: ['Messages'], readOnly: true })).toBe('No tool meets all of --tags, --tools and --read-only.');
});

test('a tool that was not chosen cannot be called', async () => {
  const set = toolSet({ tags: ['Agents'] });
  await expect(set.call('hub__get_hub', {}, {} as never)).rejects.toThrow('There is no tool hub__get_hub.');
});
