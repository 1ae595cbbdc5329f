// Longer than others: a file of its own would start a service of its own, which takes seconds.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Plan } from '../../../clients/code/plan.ts';
import { type CodeFolder, type CommandResult, useCodeFolders } from '../../support/clients/codeFolder.ts';
import { useModelApp } from '../../support/http/modelApp.ts';
import { until } from '../../support/poll.ts';

const here = useModelApp();
const newFolder = useCodeFolders(() => here.app);
const MODEL = 'model: openai/gpt-4.1\n';

interface Listed {
  publicId: string;
  name: string;
}

/** A workspace of its own for each test: nothing of another test is in a plan. */
async function project(files: Record<string, string>): Promise<CodeFolder & { key: string }> {
  const folder = await newFolder();
  await folder.write({ 'guildhall.yaml': 'formatVersion: 1\n', ...files });
  return { ...folder, key: (await here.app.database.seedWorkspace()).apiKey };
}

type Project = Awaited<ReturnType<typeof project>>;

async function run(folder: Project, ...argv: string[]): Promise<CommandResult> {
  return folder.run(argv, { key: folder.key });
}

async function apply(folder: Project, ...argv: string[]): Promise<CommandResult> {
  const result = await run(folder, 'apply', '--yes', ...argv);
  if (result.code !== 0) throw new Error(`apply ended with ${result.code}: ${result.out}${result.err}`);
  return result;
}

async function planOf(folder: Project, ...argv: string[]): Promise<Plan & { pending: boolean }> {
  const { code, out, err } = await run(folder, 'plan', '--json', ...argv);
  if (code !== 0) throw new Error(`plan ended with ${code}: ${out}${err}`);
  return JSON.parse(out);
}

async function agents(folder: Project): Promise<Listed[]> {
  const { body } = await here.app.api('get', '/agents?limit=100', folder.key).expect(200);
  return body.items;
}

async function idOf(folder: Project, name: string): Promise<string | undefined> {
  return (await agents(folder)).find((agent) => agent.name === name)?.publicId;
}

test('apply tells what is silently wrong with an agent that it publishes', async () => {
  const agent = `name: A\n${MODEL}dynamicPromptEnabled: true\n`;
  const folder = await project({ 'agents/a/agent.yaml': agent, 'agents/a/prompt.md': 'In {{Größe}}.\n' });
  expect((await apply(folder)).err).toContain(
    'The agent "A" was published with warnings: variable_not_defined (Größe)',
  );
});

describe('a plan', () => {
  test('is told with 6 when --exit-code is given and changes are pending, else with 0', async () => {
    const folder = await project({ 'agents/a/agent.yaml': `name: A\n${MODEL}` });
    expect((await run(folder, 'plan', '--exit-code')).code).toBe(6);
    expect((await run(folder, 'plan')).code).toBe(0);
    await apply(folder);
    expect((await run(folder, 'plan', '--exit-code')).code).toBe(0);
  });

  test('tells what changed on the service since the last apply, and apply brings it back', async () => {
    const folder = await project({ 'agents/a/agent.yaml': `name: A\n${MODEL}`, 'agents/a/prompt.md': 'Be kind.\n' });
    await apply(folder);
    const id = await idOf(folder, 'A');
    await here.app.api('patch', `/agents/${id}`, folder.key).send({ systemPrompt: 'Be rude.' }).expect(200);
    const { steps } = await planOf(folder);
    expect(steps).toEqual([
      expect.objectContaining({
        action: 'change',
        changedOnService: true,
        publish: true,
        differences: [{ field: 'systemPrompt', before: 'Be rude.', after: 'Be kind.' }],
      }),
    ]);
    await folder.write({ 'agents/a/prompt.md': 'Be very kind.\n' });
    await apply(folder);
    const { body } = await here.app.api('get', `/agents/${id}`, folder.key);
    expect(body).toMatchObject({
      systemPrompt: 'Be very kind.',
      hasUnpublishedChanges: false,
      publishedVersionNumber: 2,
    });
    await folder.write({ 'agents/a/prompt.md': 'Be kinder.\n' });
    expect((await planOf(folder)).steps[0]).toMatchObject({ changedOnService: false });
  });

  test('is applied as it was shown or not at all', async () => {
    const folder = await project({ 'agents/a/agent.yaml': `name: A\n${MODEL}` });
    const { digest } = await planOf(folder);
    await folder.write({ 'agents/b/agent.yaml': `name: B\n${MODEL}` });
    const refused = await run(folder, 'apply', '--yes', '--json', '--plan', digest);
    expect(refused.code).toBe(5);
    expect(JSON.parse(refused.out).error.code).toBe('plan_changed');
    expect(await agents(folder)).toEqual([]);
    await apply(folder, '--plan', (await planOf(folder)).digest);
    expect(await agents(folder)).toHaveLength(2);
  });

  test('is not applied without a yes', async () => {
    const folder = await project({ 'agents/a/agent.yaml': `name: A\n${MODEL}` });
    const { code, out } = await run(folder, 'apply', '--json');
    expect(code).toBe(2);
    expect(JSON.parse(out).error).toMatchObject({ code: 'no_tty', hint: 'Pass --yes.' });
    expect(await agents(folder)).toEqual([]);
  });

  test('is read by people on a terminal, and asked about; a change meanwhile is noticed', async () => {
    const folder = await project({
      'agents/a/agent.yaml': `name: "A\\e[8mhidden"\n${MODEL}temperature: 0.5\n`,
      'agents/a/prompt.md': 'One.\nTwo.\n',
    });
    const answering = (answer: () => Promise<string>) =>
      folder.run(['apply'], { key: folder.key, env: { NO_COLOR: '1' }, answer });
    const shown = await folder.run(['plan'], { key: folder.key, answer: async () => 'y' });
    expect(shown.out).toContain('\u001b[32m+ agent\u001b[39m');
    expect(shown.out).not.toContain('\u001b[8m');
    const refused = await answering(async () => 'n');
    expect(refused.code).toBe(1);
    expect(refused.out).toContain(
      '    systemPrompt:\n      + One.\n      + Two.\n    temperature: 0.5\n    then published\n',
    );
    const overtaken = await answering(async () => {
      await here.app.api('post', '/agents', folder.key).send({ name: 'A\u001b[8mhidden' }).expect(201);
      return 'y';
    });
    expect(overtaken.code).toBe(5);
    expect(overtaken.err).toContain('files or workspace have changed');
    expect(await agents(folder)).toEqual([expect.objectContaining({ status: 'draft' })]);
    expect((await answering(async () => 'yes')).code).toBe(0);
    expect((await planOf(folder)).pending).toBe(false);
  });

  test('names that stand for nothing are faults, before anything is made', async () => {
    const folder = await project({
      'agents/a/agent.yaml': `name: A\nmodel: openai/none\ntools:\n  - zero\n  - nothing\nsubAgents:\n  - name: B\n`,
      'agents/c/agent.yaml': `name: C\n${MODEL}`,
    });
    const { code, err } = await run(folder, 'apply', '--yes');
    expect(code).toBe(2);
    expect(err).toContain('agents/a/agent.yaml:2: there is no ai-model "openai/none"');
    expect(err).toContain('agents/a/agent.yaml:5: there is no http-tool "nothing"');
    expect(err).toContain('agents/a/agent.yaml:7: there is no agent "B"');
    expect(await agents(folder)).toEqual([]);
  });

  test('no project is a sentence', async () => {
    const folder = await newFolder();
    const { code, err } = await folder.run(['plan']);
    expect(code).toBe(2);
    expect(err).toContain('has no guildhall.yaml.');
  });
});

describe('names', () => {
  test('a name that changes in its file keeps the agent, and so its conversations', async () => {
    const folder = await project({ 'agents/a/agent.yaml': `name: Old\n${MODEL}` });
    await apply(folder);
    const id = await idOf(folder, 'Old');
    await folder.write({ 'agents/a/agent.yaml': `name: New\n${MODEL}` });
    expect((await run(folder, 'pull')).code).toBe(5);
    expect((await planOf(folder)).steps).toMatchObject([
      { action: 'change', publish: false, differences: [{ field: 'name', before: 'Old', after: 'New' }] },
    ]);
    await apply(folder);
    expect(await agents(folder)).toEqual([expect.objectContaining({ name: 'New', publicId: id })]);
  });

  test('a file that moves keeps it, too; where both change, renamedFrom tells', async () => {
    const folder = await project({ 'agents/a/agent.yaml': `name: Old\n${MODEL}` });
    await apply(folder);
    const id = await idOf(folder, 'Old');
    await folder.remove('agents/a');
    await folder.write({ 'agents/b/agent.yaml': `name: Old\n${MODEL}` });
    expect((await planOf(folder)).pending).toBe(false);
    await apply(folder);
    await folder.remove('agents/b');
    await folder.write({ 'agents/c/agent.yaml': `name: New\n${MODEL}` });
    expect((await planOf(folder)).steps[0]).toMatchObject({ action: 'create' });
    await folder.write({ 'agents/c/agent.yaml': `name: New\nrenamedFrom: Old\n${MODEL}` });
    await apply(folder);
    expect(await agents(folder)).toEqual([expect.objectContaining({ name: 'New', publicId: id })]);
    expect((await planOf(folder)).pending).toBe(false);
  });

  test('names that are handed on are changed in the order in which they become free', async () => {
    const folder = await project({
      'agents/a/agent.yaml': `name: One\n${MODEL}`,
      'agents/b/agent.yaml': `name: Two\n${MODEL}`,
      'agents/c/agent.yaml': `name: Three\n${MODEL}`,
    });
    await apply(folder);
    const [one, two, three] = await Promise.all(['One', 'Two', 'Three'].map((name) => idOf(folder, name)));
    await folder.write({
      'agents/a/agent.yaml': `name: Two\nrenamedFrom: One\n${MODEL}`,
      'agents/b/agent.yaml': `name: Three\nrenamedFrom: Two\n${MODEL}`,
      'agents/c/agent.yaml': `name: Four\nrenamedFrom: Three\n${MODEL}`,
    });
    await apply(folder);
    const names = Object.fromEntries((await agents(folder)).map(({ publicId, name }) => [publicId, name]));
    expect(names).toEqual({ [`${one}`]: 'Two', [`${two}`]: 'Three', [`${three}`]: 'Four' });
  });

  test('what has the name already is adopted, and not made a second time', async () => {
    const folder = await project({ 'agents/a/agent.yaml': `name: A\ndescription: Ours.\n${MODEL}` });
    await here.app.api('post', '/agents', folder.key).send({ name: 'A', description: 'Theirs.' }).expect(201);
    const id = await idOf(folder, 'A');
    await apply(folder);
    expect(await agents(folder)).toEqual([expect.objectContaining({ publicId: id })]);
  });

  test('odd names make odd agents and plain folders', async () => {
    const names = ['../../x', 'CON', '🤖', 'x'.repeat(150), '__proto__', 'Foo', 'foo', 'a\u202eb', "it's: #1"];
    const folder = await project({});
    for (const name of names) await here.app.api('post', '/agents', folder.key).send({ name }).expect(201);
    expect((await run(folder, 'pull')).code).toBe(0);
    const files = Object.keys(await folder.files()).filter((file) => file.startsWith('agents/'));
    expect(files).toHaveLength(names.length);
    expect(new Set(files.map((file) => file.toLowerCase())).size).toBe(names.length);
    expect((await planOf(folder)).pending).toBe(false);
    const copy = await project(await folder.files());
    await apply(copy);
    expect((await agents(copy)).map(({ name }) => name).sort()).toEqual(names.toSorted());
    expect((await planOf(copy)).pending).toBe(false);
  });
});

describe('what is deleted', () => {
  test('nothing without --prune; with it only what files described once', async () => {
    const folder = await project({
      'agents/a/agent.yaml': `name: A\n${MODEL}`,
      'agents/b/agent.yaml': `name: B\n${MODEL}`,
    });
    await apply(folder);
    await here.app.api('post', '/agents', folder.key).send({ name: 'By hand' }).expect(201);
    await folder.remove('agents/b');
    expect(await planOf(folder)).toMatchObject({ pending: false, left: [{ kind: 'agent', name: 'B' }], foreign: 2 });
    await apply(folder);
    expect(await agents(folder)).toHaveLength(3);
    expect((await planOf(folder, '--prune')).steps).toMatchObject([{ action: 'delete', name: 'B' }]);
    await apply(folder, '--prune');
    expect((await agents(folder)).map(({ name }) => name).sort()).toEqual(['A', 'By hand']);
    expect((await planOf(folder, '--prune')).pending).toBe(false);
  });

  test('variables and commands of an agent neither', async () => {
    const rest = 'variables: [{name: v, label: V, type: number}]\ncommands: [{name: C, command: c, prompt: P}]\n';
    const folder = await project({ 'agents/a/agent.yaml': `name: A\n${MODEL}${rest}` });
    await apply(folder);
    await folder.write({ 'agents/a/agent.yaml': `name: A\n${MODEL}` });
    expect(await planOf(folder)).toMatchObject({
      pending: false,
      left: [{ field: 'variables[v]' }, { field: 'commands[C]' }],
    });
    await apply(folder, '--prune');
    const id = await idOf(folder, 'A');
    expect((await here.app.api('get', `/agents/${id}/commands`, folder.key)).body).toEqual([]);
    expect((await here.app.api('get', `/agents/${id}/prompt/variables`, folder.key)).body).toEqual([]);
  });

  test('what was deleted on the service is made again', async () => {
    const folder = await project({ 'agents/a/agent.yaml': `name: A\n${MODEL}` });
    await apply(folder);
    const id = await idOf(folder, 'A');
    await here.app.api('delete', `/agents/${id}`, folder.key).expect(204);
    expect((await planOf(folder)).steps).toMatchObject([
      { action: 'create', problem: 'it was deleted on the service' },
    ]);
    await apply(folder);
    expect(await idOf(folder, 'A')).not.toBe(id);
    expect((await planOf(folder)).pending).toBe(false);
  });
});

describe('links', () => {
  test('follow a name that changes: the agent itself does not change', async () => {
    const tool = (name: string) =>
      `name: ${name}\ntoolType: INTERNAL_VARIABLE\nconfiguration: {name: order, type: string, scope: conversation}\n`;
    const folder = await project({
      'agents/a/agent.yaml': `name: A\n${MODEL}tools: [old]\n`,
      'http-tools/t.yaml': tool('old'),
    });
    await apply(folder);
    await folder.write({ 'agents/a/agent.yaml': `name: A\n${MODEL}tools: [new]\n`, 'http-tools/t.yaml': tool('new') });
    expect((await planOf(folder)).steps).toMatchObject([{ kind: 'http-tool', name: 'new', action: 'change' }]);
    await apply(folder);
    expect((await planOf(folder)).pending).toBe(false);
  });

  test('sub-agents may change their direction in one apply', async () => {
    const folder = await project({
      'agents/a/agent.yaml': `name: A\n${MODEL}subAgents: [B]\n`,
      'agents/b/agent.yaml': `name: B\n${MODEL}`,
    });
    await apply(folder);
    await folder.write({
      'agents/a/agent.yaml': `name: A\n${MODEL}`,
      'agents/b/agent.yaml': `name: B\n${MODEL}subAgents: [A]\n`,
    });
    await apply(folder);
    expect((await planOf(folder)).pending).toBe(false);
  });

  test('a source with a new content takes the place of the former one in every agent', async () => {
    const folder = await project({
      'agents/a/agent.yaml': `name: A\n${MODEL}knowledge: [K]\n`,
      'knowledge/k.yaml': 'name: K\nfile: k.md\n',
      'knowledge/k.md': 'One.\n',
    });
    await apply(folder);
    const sources = async () => (await here.app.api('get', '/knowledge-sources', folder.key)).body.items as Listed[];
    const [former] = await sources();
    await folder.write({ 'knowledge/k.md': 'Two.\n' });
    expect((await planOf(folder)).steps).toMatchObject([
      { kind: 'knowledge-source', action: 'replace' },
      { kind: 'agent', action: 'change', publish: true },
    ]);
    await apply(folder);
    const now = await sources();
    expect(now).toHaveLength(1);
    expect(now[0]?.publicId).not.toBe(former?.publicId);
    const id = await idOf(folder, 'A');
    const { body } = await here.app.api('get', `/agents/${id}/versions/published`, folder.key);
    expect(body.knowledgeSources).toEqual([expect.objectContaining({ knowledgeSourcePublicId: now[0]?.publicId })]);
    expect((await planOf(folder)).pending).toBe(false);
  });
});

describe('failures', () => {
  test('of one agent leave the others whole; the next apply goes on', async () => {
    const folder = await project({
      'agents/a/agent.yaml': `name: A\n${MODEL}nativeMcps: [{toolkit: slack, name: Team}]\n`,
      'agents/b/agent.yaml': `name: B\n${MODEL}`,
    });
    const { code, out } = await run(folder, 'apply', '--yes', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out).error).toMatchObject({
      code: 'apply_incomplete',
      details: [{ path: 'agent "A"', message: expect.stringContaining('no active connection "Team"') }],
    });
    const states = (await here.app.api('get', '/agents', folder.key)).body.items as { name: string; status: string }[];
    expect(Object.fromEntries(states.map(({ name, status }) => [name, status]))).toEqual({ A: 'draft', B: 'active' });
    await folder.write({ 'agents/a/agent.yaml': `name: A\n${MODEL}` });
    await apply(folder);
    expect(await agents(folder)).toHaveLength(2);
  });

  test('an answer that is lost makes nothing a second time', async () => {
    const folder = await project({
      'agents/a/agent.yaml': `name: A\n${MODEL}knowledge: [K]\n`,
      'knowledge/k.yaml': 'name: K\nfile: k.md\n',
      'knowledge/k.md': 'One.\n',
    });
    let lost = 0;
    // The service does the work, and the connection breaks before the answer comes.
    const losing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (init?.method !== 'POST' || lost > 5) return response;
      lost++;
      throw new TypeError('fetch failed', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) });
    };
    const first = await folder.run(['apply', '--yes'], { key: folder.key, fetch: losing });
    expect([0, 1]).toContain(first.code);
    await apply(folder);
    expect(lost).toBeGreaterThan(1);
    expect(await agents(folder)).toHaveLength(1);
    expect((await here.app.api('get', '/knowledge-sources', folder.key)).body.total).toBe(1);
    expect((await planOf(folder)).pending).toBe(false);
  });

  test('a replacement whose answer is lost, or whose apply ends then, makes one new thing', async () => {
    const folder = await project({
      'agents/a/agent.yaml': `name: A\n${MODEL}knowledge: [K]\n`,
      'knowledge/k.yaml': 'name: K\nfile: k.md\n',
      'knowledge/k.md': 'One.\n',
    });
    await apply(folder);
    await folder.write({ 'knowledge/k.md': 'Two.\n' });
    // From the first source that is made on, nothing comes through.
    let isDead = false;
    const dying: typeof fetch = async (input, init) => {
      const url = input instanceof Request ? input.url : `${input}`;
      if (!isDead) {
        const response = await fetch(input, init);
        isDead = init?.method === 'POST' && url.endsWith('/knowledge-sources');
        if (!isDead) return response;
      }
      throw new TypeError('fetch failed', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) });
    };
    const first = await folder.run(['apply', '--yes'], { key: folder.key, fetch: dying });
    expect([isDead, first.code]).toEqual([true, 1]);
    expect((await here.app.api('get', '/knowledge-sources', folder.key)).body.total).toBe(2);
    await apply(folder);
    expect((await here.app.api('get', '/knowledge-sources', folder.key)).body.total).toBe(1);
    expect((await planOf(folder)).pending).toBe(false);
  });

  test('an apply that is killed goes on when it is run again', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `Agent ${index}`);
    const folder = await project(
      Object.fromEntries(
        names.map((name, index) => [
          `agents/${index}/agent.yaml`,
          `name: ${name}\n${MODEL}${index > 0 ? `subAgents: [Agent ${index - 1}]\n` : ''}`,
        ]),
      ),
    );
    const program = join(import.meta.dirname, '../../../clients/cli/main.ts');
    const env = { ...process.env, GUILDHALL_API_KEY: folder.key, GUILDHALL_BASE_URL: here.app.origin };
    const child = spawn(process.execPath, [program, 'apply', '--yes'], { cwd: folder.path, env, stdio: 'ignore' });
    const ended = once(child, 'exit');
    await until(async () => (await agents(folder)).length >= 3 || child.exitCode !== null);
    child.kill('SIGKILL');
    await ended;
    await apply(folder);
    expect((await agents(folder)).map(({ name }) => name).sort()).toEqual(names.toSorted());
    expect((await planOf(folder)).pending).toBe(false);
  });

  test.each([
    ['half-written', '{"version": 1, "workspaces": {', 'lock_unreadable'],
    ['of another version', '{"version": 2, "workspaces": {}}', 'lock_version'],
    ['with another content', '{"version": 1, "workspaces": {"x": {"agent": {"A": {}}}}}', 'lock_unreadable'],
  ])('a lock file that is %s is told, and nothing is done', async (_what, text, code) => {
    const folder = await project({ 'agents/a/agent.yaml': `name: A\n${MODEL}`, 'guildhall.lock.json': text });
    const result = await run(folder, 'apply', '--yes', '--json');
    expect(result.code).toBe(5);
    expect(JSON.parse(result.out).error.code).toBe(code);
    expect(await folder.read('guildhall.lock.json')).toBe(text);
    expect(await agents(folder)).toEqual([]);
  });
});

describe('pull', () => {
  test('leaves edits that were not applied, unless it is forced', async () => {
    const folder = await project({ 'agents/a/agent.yaml': `name: A\n${MODEL}`, 'agents/a/prompt.md': 'One.\n' });
    await apply(folder);
    const id = await idOf(folder, 'A');
    await here.app.api('patch', `/agents/${id}`, folder.key).send({ systemPrompt: 'Two.' }).expect(200);
    expect((await run(folder, 'pull')).code).toBe(0);
    expect(await folder.read('agents/a/prompt.md')).toBe('Two.\n');
    await folder.write({ 'agents/a/prompt.md': 'Mine.\n' });
    const refused = await run(folder, 'pull', '--json');
    expect(refused.code).toBe(5);
    expect(JSON.parse(refused.out).error).toMatchObject({
      code: 'local_edits',
      details: [{ path: 'agents/a/agent.yaml' }],
    });
    expect(await folder.read('agents/a/prompt.md')).toBe('Mine.\n');
    expect((await run(folder, 'pull', '--force')).code).toBe(0);
    expect(await folder.read('agents/a/prompt.md')).toBe('Two.\n');
    await here.app.api('patch', `/agents/${id}`, folder.key).send({ systemPrompt: null }).expect(200);
    await run(folder, 'pull');
    expect(await folder.files()).not.toHaveProperty(['agents/a/prompt.md']);
  });

  test('keeps comments of what is the same, and files of what is gone until --prune', async () => {
    const text = `# Ours.\nname: A\n${MODEL}`;
    const folder = await project({ 'agents/a/agent.yaml': text, 'agents/b/agent.yaml': `name: B\n${MODEL}` });
    await apply(folder);
    await here.app.api('delete', `/agents/${await idOf(folder, 'B')}`, folder.key).expect(204);
    const { err } = await run(folder, 'pull');
    expect(err).toContain('agents/b/agent.yaml: B is gone from the workspace.');
    expect(await folder.read('agents/a/agent.yaml')).toBe(text);
    expect(await folder.files()).toHaveProperty(['agents/b/agent.yaml']);
    expect((await run(folder, 'pull', '--prune')).code).toBe(0);
    expect(await folder.files()).not.toHaveProperty(['agents/b/agent.yaml']);
    expect(await folder.files()).toHaveProperty(['agents/a/agent.yaml']);
  });

  test('a list loses what is gone with --prune only, and its file goes with the last one', async () => {
    const folder = await project({
      'hub/links.yaml':
        '- {title: Blog, url: "https://example.com/blog"}\n- {title: Shop, url: "https://example.com/shop"}\n',
    });
    await apply(folder);
    const links = async () =>
      (await here.app.api('get', '/hub/external-links', folder.key)).body as { publicId: string }[];
    const remove = async () => {
      const [first] = await links();
      await here.app.api('delete', `/hub/external-links/${first?.publicId}`, folder.key).expect(204);
    };
    await remove();
    expect((await run(folder, 'pull')).err).toContain('is gone from the workspace');
    expect(await folder.read('hub/links.yaml')).toContain('Blog');
    expect((await run(folder, 'pull', '--prune')).code).toBe(0);
    const text = await folder.read('hub/links.yaml');
    expect(text).not.toContain('Blog');
    expect(text).toContain('Shop');
    await remove();
    await run(folder, 'pull', '--prune');
    expect(await folder.files()).not.toHaveProperty(['hub/links.yaml']);
    expect(await planOf(folder)).toMatchObject({ pending: false, left: [] });
  });

  test('writes a file that is missing, or --force one that is broken, where it was', async () => {
    const folder = await project({ 'agents/mine/agent.yaml': `name: A\n${MODEL}`, 'agents/mine/prompt.md': 'One.\n' });
    await apply(folder);
    const before = await folder.read('agents/mine/prompt.md');
    await folder.remove('agents/mine');
    await run(folder, 'pull');
    expect(await folder.read('agents/mine/prompt.md')).toBe(before);
    await folder.write({ 'agents/mine/agent.yaml': 'name: [' });
    expect((await run(folder, 'pull')).code).toBe(2);
    expect((await run(folder, 'pull', '--force')).code).toBe(0);
    expect(Object.keys(await folder.files()).filter((file) => file.startsWith('agents/'))).toEqual([
      'agents/mine/agent.yaml',
      'agents/mine/prompt.md',
    ]);
    expect((await planOf(folder)).pending).toBe(false);
  });

  test('refuses to overwrite files of another workspace', async () => {
    const folder = await project({ 'agents/a/agent.yaml': `name: A\ndescription: Staging.\n${MODEL}` });
    await apply(folder);
    const { apiKey: key } = await here.app.database.seedWorkspace();
    await here.app.api('post', '/agents', key).send({ name: 'A', description: 'Production.' }).expect(201);
    expect((await folder.run(['pull'], { key })).code).toBe(5);
    expect(await folder.read('agents/a/agent.yaml')).toContain('Staging.');
  });
});
