import type { AgentTool, ToolOutput } from '../../../runtime/agent/tool.ts';
import { makeToolset, makeToolsetInTurns, runTool } from '../../../runtime/agent/toolset.ts';
import { loopTurns } from '../../support/loopTurns.ts';
import { calling, ownTool, toolOf } from './tools.ts';

type Logger = NonNullable<Parameters<typeof makeToolset>[1]>['logger'];
let warnings: { fields: Record<string, unknown>; message: string }[];
let logger: Logger;
beforeEach(() => {
  warnings = [];
  const warn = (fields: Record<string, unknown>, message: string) => void warnings.push({ fields, message });
  logger = { warn } as Logger;
});

const answering = (text: string): Partial<AgentTool> => ({ run: async () => ({ text, isError: false }) });

/** Runs a tool that is alone in its set. */
async function run(tool: AgentTool, input: Record<string, unknown> = {}, signal?: AbortSignal): Promise<ToolOutput> {
  const entry = makeToolset([tool], { logger }).byOrigin(tool.origin);
  if (!entry) throw new Error('it is not there');
  return (await runTool(entry, input, calling(signal))) as ToolOutput;
}

describe('a set of tools', () => {
  test('gives the model each tool, in order, the run-time’s own first', () => {
    const set = makeToolset([toolOf('b', 's'), ownTool('remember'), toolOf('a', 's')]);
    expect(set.definitions).toEqual(
      ['remember', 'b', 'a'].map((name) => ({
        name,
        description: `Does ${name}.`,
        inputSchema: { type: 'object', properties: {} },
      })),
    );
  });

  test('finds a tool by its name, and by its origin whatever it is called now', () => {
    const [one, two] = [toolOf('send', 'slack'), toolOf('send', 'gmail')];
    expect(makeToolset([one]).byOrigin({ ...one.origin })?.name).toBe('send');
    const both = makeToolset([one, two]);
    expect(both.byOrigin({ ...one.origin })).toMatchObject({ name: 'slack__send', tool: one });
    expect(both.byName('gmail__send')?.tool).toBe(two);
    expect(both.byName('send')).toBeUndefined();
    expect(makeToolset([two]).byOrigin(one.origin)).toBeUndefined();
  });

  test('distinguishes origins by kind, id and operation or name', () => {
    const id = 'a';
    const tools = [
      toolOf('1', null, { origin: { kind: 'http_tool', id, operationId: null } }),
      toolOf('2', null, { origin: { kind: 'http_tool', id, operationId: 'list' } }),
      toolOf('3', null, { origin: { kind: 'native_mcp', id, toolName: 'list' } }),
      toolOf('4', null, { origin: { kind: 'sub_agent', id } }),
      toolOf('5', null, { origin: { kind: 'capability', name: id } }),
    ];
    const set = makeToolset([...tools, toolOf('again', null, { origin: { kind: 'sub_agent', id } })]);
    expect(tools.map(({ origin }) => set.byOrigin(origin)?.tool)).toEqual(tools);
    expect(set.byName('again')).toBeUndefined();
  });

  test('cuts descriptions to 1,024 characters, and no character in two', () => {
    const description = `\0${'x'.repeat(1023)}🙂`;
    const [definition] = makeToolset([toolOf('a', null, { description })]).definitions;
    expect(definition?.description).toBe('x'.repeat(1023));
  });

  test('gives the model at most 128 tools, always with the run-time’s own, and logs those left out', () => {
    const many = Array.from({ length: 140 }, (_, index) => toolOf(`tool_${index}`, 'server'));
    const set = makeToolset([...many, ownTool('remember')], { logger });
    expect(set.definitions).toHaveLength(128);
    expect(set.definitions[0]?.name).toBe('remember');
    expect(set.definitions.at(-1)?.name).toBe('tool_126');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.fields).toMatchObject({ count: 13, leftOut: expect.arrayContaining(['tool_127', 'tool_139']) });
    expect(set.byOrigin((many[139] as AgentTool).origin)?.name).toBe('tool_139');
    makeToolset(many.slice(0, 128), { logger });
    expect(warnings).toHaveLength(1);
  });
});

describe('inputs', () => {
  const inputSchema = {
    type: 'object',
    properties: { fact: { type: 'string', maxLength: 5 }, times: { type: 'integer', default: 1 } },
    required: ['fact'],
    additionalProperties: false,
  };

  test.each(['capability', 'sub_agent'] as const)(
    'of a %s are held against its schema, defaults filled in',
    async (kind) => {
      const origin = kind === 'capability' ? { kind, name: 'a' } : { kind, id: 'a' };
      const tool = toolOf('a', null, { origin, inputSchema });
      expect(await run(tool, { fact: 'x' })).toEqual({ text: '{"fact":"x","times":1}', isError: false });
      const { text, isError } = await run(tool, { fact: 'too long', more: 1 });
      expect([text, isError]).toEqual([
        'The inputs do not fit the tool: more is not a known field; fact must NOT have more than 5 characters.',
        true,
      ]);
      expect(await run(tool)).toMatchObject({ isError: true, text: expect.stringContaining('fact is required') });
    },
  );

  test('of another tool are its own matter', async () => {
    expect(await run(toolOf('a', null, { inputSchema }), { more: 1 })).toEqual({ text: '{"more":1}', isError: false });
  });

  test('come by the names that the tool knows', async () => {
    const tool = toolOf('a', null, { inputSchema: { type: 'object', properties: { $top: {} } } });
    expect(await run(tool, { _top: 5 })).toEqual({ text: '{"$top":5}', isError: false });
  });
});

describe('the output', () => {
  test('of 40,000 characters is whole', async () => {
    expect((await run(toolOf('a', null, answering('x'.repeat(40_000))))).text).toHaveLength(40_000);
  });

  test('that is longer is cut, with a note of how long it was', async () => {
    const { text } = await run(toolOf('a', null, answering('x'.repeat(40_001))));
    expect(text).toMatch(/x\n\[cut off here: the result has 40001 characters\]$/);
    expect(text).toHaveLength(40_000);
  });

  test.each([0, 1])('is cut through no character', async (before) => {
    const { text } = await run(toolOf('a', null, answering(`${'x'.repeat(before)}${'🙂'.repeat(30_000)}`)));
    expect(text.isWellFormed()).toBe(true);
    expect(text).toMatch(/🙂\n\[cut off here/u);
    expect(text.length).toBeLessThanOrEqual(40_000);
  });

  test('can be stored', async () => {
    expect((await run(toolOf('a', null, answering('a\0b\uD83Dc')))).text).toBe('ab\uFFFDc');
  });

  test('of a sub-agent that waits is handed on as it is', async () => {
    const suspension = { paused: { agentId: 'a' } };
    const tool = toolOf('a', null, {
      origin: { kind: 'sub_agent', id: 'a' },
      run: async () => suspension as never,
    });
    expect(await run(tool)).toBe(suspension);
  });
});

describe('a tool that throws', () => {
  const failing = (error: unknown, more: Partial<AgentTool> = {}) =>
    toolOf('send', null, { run: () => Promise.reject(error), ...more });

  test('is an error without internals for the model, and logged', async () => {
    const error = new Error('connect ECONNREFUSED 10.0.0.7:5432');
    expect(await run(failing(error))).toEqual({
      text: 'send could not be used because of a fault in this service. It may work later.',
      isError: true,
    });
    expect(warnings).toMatchObject([{ fields: { err: error, tool: 'send' } }]);
  });

  test('at once is no different', async () => {
    const tool = toolOf('send', null, {
      run: () => {
        throw new Error('at once');
      },
    });
    expect(await run(tool)).toMatchObject({ isError: true });
  });

  test('is heard when it is a sub-agent: it says itself what ends the turn', async () => {
    const error = new Error('no database');
    await expect(run(failing(error, { origin: { kind: 'sub_agent', id: 'a' } }))).rejects.toBe(error);
  });
});

describe('an aborted signal', () => {
  const reason = new Error('over');

  test('ends a tool that takes no notice, with its reason', async () => {
    const controller = new AbortController();
    const begun = Promise.withResolvers<void>();
    const tool = toolOf('a', null, {
      run: () => {
        begun.resolve();
        return new Promise(() => {});
      },
    });
    const running = run(tool, {}, controller.signal);
    await begun.promise;
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect(warnings).toEqual([]);
  });

  test('counts more than what the tool answers or throws', async () => {
    for (const outcome of [async () => ({ text: 'stopped', isError: true }), () => Promise.reject(new Error('x'))]) {
      const controller = new AbortController();
      const tool = toolOf('a', null, {
        run: () => {
          controller.abort(reason);
          return outcome();
        },
      });
      await expect(run(tool, {}, controller.signal)).rejects.toBe(reason);
    }
    expect(warnings).toEqual([]);
  });

  test('from before means that the tool is not run', async () => {
    let ran = false;
    const tool = toolOf('a', null, {
      run: async () => {
        ran = true;
        return { text: '', isError: false };
      },
    });
    await expect(run(tool, {}, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(ran).toBe(false);
  });
});

test('others have their turns while the toolset of 10,000 tools is made, and it is the same as at once', async () => {
  const tools = Array.from({ length: 10_000 }, (_, place) => toolOf(`tool_${place % 7_000}`, `server ${place}`));
  let set: Awaited<ReturnType<typeof makeToolsetInTurns>> | undefined;
  const turns = await loopTurns(async () => {
    set = await makeToolsetInTurns(tools);
  });
  expect(turns).toBeGreaterThan(20);
  expect(set?.definitions).toEqual(makeToolset(tools).definitions);
  expect(set?.byName('tool_6999')?.tool).toBe(tools[6_999]);
});
