import { skillsCapability } from '../../../runtime/capabilities/skills.ts';
import type { LinkedSkill } from '../../../runtime/resources/resources.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeSkill, uploadSkill, zipOf } from '../../support/tools/skills.ts';
import { callTool, newScope, toolsFrom } from '../../support/turns/agentScope.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const scopeWith = (...skills: LinkedSkill[]) => newScope(app, { resources: { skills } });

/** Makes a skill with these files, in the form in which an agent is linked to it. */
async function skillOf(
  files: Record<string, string | Buffer> = {},
  options: { name?: string; body?: string; key?: string } = {},
): Promise<LinkedSkill> {
  const { name, body = '# Steps\n\nDo it well.\n', key } = options;
  const front = `---\nname: ${name ?? `skill-${Math.random()}`}\ndescription: Does things.\n---\n`;
  const made = await uploadSkill(app, await zipOf({ 'SKILL.md': `${front}${body}`, ...files }), 'skill.zip', key);
  if (made.status !== 201) throw new Error(made.text);
  return { id: made.body.publicId, name: made.body.name, description: made.body.description };
}

/** Calls `read_skill` of an agent with these skills. */
async function reader(...skills: LinkedSkill[]) {
  const tools = toolsFrom(skillsCapability, await scopeWith(...skills));
  return (input: Record<string, unknown>) => callTool(tools, 'read_skill', { skill: skills[0]?.name, ...input });
}

describe('the section', () => {
  test('has each skill on one line', () => {
    const skills = [
      { id: 'a', name: 'pdf-forms', description: 'Fills PDF forms.\n\n# System\nUse for  forms.' },
      { id: 'b', name: 'no\ndescription', description: '' },
      { id: 'c', name: 'talkative', description: 'word '.repeat(200) },
    ];
    const [heading, use, list] = skillsCapability.section({ resources: { skills } }).split('\n\n');
    expect([heading, use]).toEqual(['# Skills', expect.stringContaining('`read_skill`')]);
    const lines = list?.split('\n') ?? [];
    expect(lines.slice(0, 2)).toEqual(['- pdf-forms: Fills PDF forms. # System Use for forms.', '- no description']);
    expect(lines[2]).toMatch(/^- talkative: (word )+word…$/);
    expect(lines[2]?.length).toBeLessThan(520);
    expect(lines).toHaveLength(3);
  });

  test('is left out without skills', async () => expect(skillsCapability.isActive(await scopeWith())).toBe(false));
});

test('read_skill is there when skills are linked', async () => {
  expect(toolsFrom(skillsCapability, await scopeWith())).toEqual([]);
  expect(toolsFrom(skillsCapability, await scopeWith(await skillOf()))).toMatchObject([
    { name: 'read_skill', owner: null, requiresApproval: false, origin: { kind: 'capability', name: 'read_skill' } },
  ]);
});

describe('the instructions', () => {
  test('come without the front matter, and with the list of the files', async () => {
    const skill = await skillOf({ 'reference/forms.md': 'Forms: ä', 'logo.png': Buffer.from([0, 1, 2]) });
    const read = await reader(skill);
    expect(await read({})).toEqual({
      text: `SKILL.md of the skill "${skill.name}":\n\n# Steps\n\nDo it well.\n\nIts files:\n- logo.png (binary, 3 bytes)\n- reference/forms.md (9 bytes)`,
      isError: false,
    });
    expect(await read({ path: 'SKILL.md' })).toEqual(await read({}));
    expect(await read({ path: '' })).toEqual(await read({}));
  });

  test('name no files when there are none', async () => {
    expect((await (await reader(await skillOf()))({})).text).toMatch(/:\n\n# Steps\n\nDo it well\.$/);
  });

  test.each([
    ['a mark of the byte order and CRLF', '\uFEFF---\r\nname: N\r\ndescription: D.\r\n---\r\n\r\nBody\r\n---\r\nMore'],
    ['the largest front matter', `---\nname: N\ndescription: D.\n# ${'x'.repeat(16_300)}\n---\nBody\r\n---\r\nMore`],
  ])('begin behind the front matter: %s', async (_what, content) => {
    const made = await uploadSkill(app, content.replace('N', `n-${Math.random()}`), 'SKILL.md');
    expect(made.status).toBe(201);
    const { publicId: id, name, description } = made.body;
    const { text } = await (await reader({ id, name, description }))({});
    expect(text).toBe(`SKILL.md of the skill "${name}":\n\nBody\r\n---\r\nMore`);
  });

  test('may be empty', async () => {
    expect(await (await reader(await skillOf({}, { body: '' })))({})).toMatchObject({ isError: false });
  });

  test('are read in their current state: a deleted skill is not found', async () => {
    const skill = await skillOf();
    const read = await reader(skill);
    await app.api('delete', `/skills/${skill.id}`);
    const gone = { text: `The skill "${skill.name}" is no longer there.`, isError: true };
    expect([await read({}), await read({ path: 'a.md' })]).toEqual([gone, gone]);
  });
});

describe('a file', () => {
  test('is read by its path', async () => {
    const skill = await skillOf({ 'reference/forms.md': '\uFEFFForms: ä\n' });
    const read = await reader(skill);
    const text = `reference/forms.md of the skill "${skill.name}":\n\nForms: ä`;
    for (const path of ['reference/forms.md', './reference/forms.md', '/reference/forms.md']) {
      expect(await read({ path })).toEqual({ text, isError: false });
    }
  });

  test.each([
    ['lines', `${'A line of this very file, ä. '.repeat(3)}\n`],
    ['characters where there are no lines', 'äö🦙.'],
  ])('that is long is read in parts of whole %s, and nothing is missing or repeated', async (what, unit) => {
    const content = unit.repeat(Math.ceil(60_000 / Buffer.byteLength(unit)));
    const skill = await skillOf({ 'long.txt': content });
    const read = await reader(skill);
    const parts: string[] = [];
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const { text, isError } = await read({ path: 'long.txt', offset });
      expect([isError, text.length < 25_000]).toEqual([false, true]);
      const [title = '', ...rest] = text.split(':\n\n');
      parts.push(rest.join(':\n\n'));
      const next = /^long\.txt .* \(up to (\d+) of (\d+) bytes; read on with offset (\d+)\)$/.exec(title);
      if (next) expect([next[1], next[2]]).toEqual([next[3], String(Buffer.byteLength(content))]);
      offset = next ? Number(next[3]) : undefined;
    }
    expect(parts).toHaveLength(3);
    expect(parts.join('')).toBe(content.trimEnd());
    if (what === 'lines') expect(parts[0]).toMatch(/\n$/);
    expect(parts[0]?.isWellFormed()).toBe(true);
  });

  test('is read from the next whole character when the offset is within one', async () => {
    const read = await reader(await skillOf({ 'a.txt': '🦙bc' }));
    for (const offset of [1, 2, 3, 4]) {
      expect((await read({ path: 'a.txt', offset })).text).toMatch(/"[^"]*":\n\nbc$/);
    }
    expect((await read({ path: 'a.txt', offset: -5 })).text).toMatch(/🦙bc$/);
    expect((await read({ path: 'a.txt', offset: 'x' })).text).toMatch(/🦙bc$/);
    for (const offset of [6, 1e12, Number.POSITIVE_INFINITY]) {
      expect(await read({ path: 'a.txt', offset })).toEqual({
        text: expect.stringContaining('ends at 6'),
        isError: true,
      });
    }
  });

  test('that ends exactly where a part ends is read completely', async () => {
    const content = `${'x'.repeat(17_000)}\n${'y'.repeat(6_999)}`;
    const { text } = await (await reader(await skillOf({ 'a.txt': content })))({ path: 'a.txt' });
    expect(text.endsWith(`:\n\n${content}`)).toBe(true);
    expect(text).not.toContain('read on');
  });

  test('that is empty gives an empty text', async () => {
    const { text, isError } = await (await reader(await skillOf({ 'a.txt': '' })))({ path: 'a.txt' });
    expect([text, isError]).toEqual([expect.stringMatching(/^a\.txt of the skill "[^"]*":\n\n$/), false]);
  });

  test('that is binary is described by kind and size', async () => {
    const skill = await skillOf({ 'logo.png': Buffer.from([0, 1, 2]), data: Buffer.from([0]) });
    const read = await reader(skill);
    expect(await read({ path: 'logo.png' })).toEqual({
      text: `logo.png of the skill "${skill.name}" is a binary file (PNG) of 3 bytes. It cannot be read as text.`,
      isError: false,
    });
    expect((await read({ path: 'data' })).text).toContain('is a binary file of 1 bytes');
  });

  test('that does not exist is answered with the existing files', async () => {
    const skill = await skillOf({ 'a/one.md': 'One', 'b/two.md': 'Two' });
    const read = await reader(skill);
    for (const path of ['three.md', 'A/ONE.md', '../SKILL.md', 'a/\0', '\ud800']) {
      const { text, isError } = await read({ path });
      expect(isError).toBe(true);
      expect(text).toMatch(/has no file .*These are there:\n- SKILL\.md .*\n- a\/one\.md \(3 bytes\)\n- b\/two\.md/);
    }
  });

  test('that is a folder is answered with its files', async () => {
    const read = await reader(await skillOf({ 'a/one.md': 'One', 'ab/two.md': 'Two' }));
    for (const path of ['a', 'a/']) {
      const { text, isError } = await read({ path });
      expect([isError, text]).toEqual([false, expect.stringMatching(/^a\/ is a folder .* these files:\n- a\/one\.md/)]);
      expect(text).not.toContain('two.md');
    }
  });

  test('is listed with many others as far as there is room', async () => {
    const files = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`folder/of/files/number-${n}.md`, 'x']));
    const { text } = await (await reader(await skillOf(files)))({});
    const listed = text.match(/^- folder/gm)?.length ?? 0;
    expect(listed).toBeGreaterThan(50);
    expect(text).toMatch(new RegExp(`\nand ${300 - listed} more$`));
    expect(text.length).toBeLessThan(4_500);
  });
});

describe('a skill', () => {
  test('is found by its exact name, or else regardless of case and spaces', async () => {
    const one = await skillOf({}, { name: 'Forms', body: 'Upper' });
    const other = await skillOf({}, { name: 'forms', body: 'Lower' });
    const read = await reader(one, other);
    const body = async (skill: string) => (await read({ skill })).text.split('\n\n')[1];
    expect([await body('forms'), await body('Forms'), await body(' FORMS\n')]).toEqual(['Lower', 'Upper', 'Upper']);
  });

  test('that is not linked to the agent does not exist, though the workspace has it', async () => {
    const [linked, other] = [await skillOf(), await skillOf()];
    const read = await reader(linked);
    for (const skill of [other.name, 'never-made', undefined, 7, '']) {
      const { text, isError } = await read({ skill });
      expect([text, isError]).toEqual([expect.stringMatching(/^There is no skill ".*These are there:\n/), true]);
      expect(text.split('\n').slice(1)).toEqual([`- ${linked.name}`]);
    }
  });

  test("of another workspace cannot be read by this one's agent", async () => {
    const made = await makeSkill(app, { key: app.stranger.apiKey });
    const theirs = { id: made.publicId, name: made.name, description: '' };
    expect(await (await reader(theirs))({})).toMatchObject({ isError: true });
  });

  test('is not read for a turn that has ended', async () => {
    const tools = toolsFrom(skillsCapability, await scopeWith(await skillOf()));
    const reason = new Error('stopped');
    const call = callTool(tools, 'read_skill', {}, { signal: AbortSignal.abort(reason) });
    await expect(call).rejects.toBe(reason);
  });
});
