import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { FileFaults } from '../../../clients/code/faults.ts';
import { type FileEntry, readEntries } from '../../../clients/code/files/readEntries.ts';
import { slugOf } from '../../../clients/code/files/slug.ts';
import { yamlText } from '../../../clients/code/files/yaml.ts';
import { allKinds } from '../../../clients/code/kinds/index.ts';

let root: string;
let count = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'guildhall-files-'));
});
afterAll(() => rm(root, { recursive: true }));

async function folderWith(files: Record<string, string | Uint8Array>): Promise<string> {
  const folder = join(root, `${++count}`);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

async function entriesOf(files: Record<string, string | Uint8Array>): Promise<FileEntry[]> {
  return readEntries(await folderWith(files), allKinds);
}

async function faultsOf(files: Record<string, string | Uint8Array>): Promise<string[]> {
  return faultsIn(await folderWith(files));
}

async function faultsIn(folder: string): Promise<string[]> {
  const error = await readEntries(folder, allKinds).catch((thrown) => thrown);
  if (!(error instanceof FileFaults)) throw new Error(`no faults: ${JSON.stringify(error)}`);
  return error.faults.map(({ message }) => message);
}

const AGENT = 'agents/a/agent.yaml';

describe('what is wrong in a file is told with file and line', () => {
  test.each<[string, string, string]>([
    [
      'an unknown field',
      'name: A\nmodell: x\n',
      `${AGENT}:2: there is no field \`modell\` here. Did you mean \`model\`?`,
    ],
    [
      'an unknown field within',
      'name: A\npublish: false\nvariables:\n  - name: a\n    label: A\n    type: number\n    Lable: x\n',
      `${AGENT}:7: there is no field \`Lable\` here. Did you mean \`label\`?`,
    ],
    [
      'an unknown field where several forms are allowed',
      'name: A\npublish: false\ntools: [{name: t, aproval: true}]\n',
      `${AGENT}:3: there is no field \`aproval\` here.`,
    ],
    ['none of several forms', 'name: A\npublish: false\ntools: [7]\n', `${AGENT}:3: The item has none of the forms`],
    ['no name', 'model: x\n', `${AGENT}:1: the field \`name\` is missing.`],
    ['a wrong type', 'name: A\ntemperature: hot\n', `${AGENT}:2: \`temperature\` must be number or null.`],
    ['a wrong word', 'name: A\nmessageDelayType: EVER\n', `${AGENT}:2: `],
    ['a repeated field', 'name: A\nname: B\n', `${AGENT}:2: Map keys must be unique.`],
    ['a tag', 'name: !!js/function "x"\n', `${AGENT}:1: Unresolved tag: tag:yaml.org,2002:js/function.`],
    ['infinity', 'name: A\ntemperature: .inf\n', `${AGENT}:2: infinity and NaN are not allowed.`],
    ['two documents', 'name: A\n---\nname: B\n', `${AGENT}:`],
    ['no YAML', 'name: "A\n', `${AGENT}:`],
    ['a list', '- name: A\n', `${AGENT}:1: This must be object.`],
    ['nothing', '', `${AGENT}:1: This must be object.`],
    ['a missing model', 'name: A\n', `${AGENT}:1: an agent that is published needs a \`model\`.`],
    ['conflict marks', '<<<<<<< HEAD\nname: A\n=======\nname: B\n>>>>>>> x\n', `${AGENT}:`],
  ])('%s', async (_what, text, message) => {
    const faults = await faultsOf({ [AGENT]: text });
    expect(faults[0]).toContain(message);
  });

  test('everything that is wrong in all files comes at once', async () => {
    const faults = await faultsOf({
      [AGENT]: 'name: A\nx: 1\ny: 2\n',
      'agents/b/agent.yaml': 'name: [1\n',
      'http-tools/t.yaml': 'name: t\n',
    });
    expect(new Set(faults.map((fault) => fault.split(':')[0]))).toEqual(
      new Set([AGENT, 'agents/b/agent.yaml', 'http-tools/t.yaml']),
    );
    expect(faults.filter((fault) => fault.startsWith(AGENT))).toHaveLength(2);
  });

  test('a name that two files have, and agents that delegate in a circle', async () => {
    expect(
      await faultsOf({
        'agents/one/agent.yaml': 'name: A\npublish: false\n',
        'agents/two/agent.yaml': 'publish: false\nname: A\n',
      }),
    ).toEqual(['agents/two/agent.yaml:2: agents/one/agent.yaml has the name "A" already.']);
    const circle = await faultsOf({
      'agents/a/agent.yaml': 'name: A\npublish: false\nsubAgents: [B]\n',
      'agents/b/agent.yaml': 'name: B\npublish: false\nsubAgents: [A]\n',
    });
    expect(circle).toEqual([expect.stringContaining('"A" → "B" → "A"')]);
  });

  test('a folder without its file, a file beside the folders, and another ending', async () => {
    const faults = await faultsOf({
      'agents/a/prompt.md': 'x',
      'agents/b.yaml': 'name: B',
      'http-tools/t.yml': 'name: t',
    });
    expect(faults).toEqual([
      expect.stringContaining('http-tools/t.yml: '),
      'agents/a: has no agent.yaml.',
      expect.stringContaining('agents/b.yaml: '),
    ]);
  });
});

describe('hostile files', () => {
  test('aliases that blow up are refused, in no time', async () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let depth = 1; depth < 12; depth++)
      lines.push(
        `a${depth}: &a${depth} [${Array(10)
          .fill(`*a${depth - 1}`)
          .join(', ')}]`,
      );
    expect(await faultsOf({ [AGENT]: lines.join('\n') })).toEqual([expect.stringContaining('Excessive alias count')]);
  });

  test('very deep nesting is a fault and no crash', async () => {
    const [fault] = await faultsOf({ [AGENT]: `name: ${'['.repeat(50_000)}` });
    expect(fault).toContain(AGENT);
  });

  test('a file that is too large, and one that is no UTF-8', async () => {
    expect(await faultsOf({ [AGENT]: `name: ${'x'.repeat(5_000_000)}` })).toEqual([expect.stringContaining('at most')]);
    expect(await faultsOf({ [AGENT]: Buffer.from([0x6e, 0xff, 0xfe]) })).toEqual([
      `${AGENT}: is not UTF-8. Save it in this encoding.`,
    ]);
  });

  test('__proto__ is a field like any other: unknown', async () => {
    const [fault] = await faultsOf({ [AGENT]: 'name: A\n__proto__: {publish: false}\n' });
    expect(fault).toContain('`__proto__`');
  });

  test('links are not followed, and nothing outside of the folder is read', async () => {
    const folder = await folderWith({ 'agents/a/agent.yaml': 'name: A\npublish: false\n' });
    await symlink('/etc/passwd', join(folder, 'agents/a/prompt.md'));
    expect(await faultsIn(folder)).toEqual([expect.stringContaining('agents/a/prompt.md: is a symbolic link')]);
    const other = await folderWith({ 'agents/a/agent.yaml': 'name: A\npublish: false\n' });
    await symlink(folder, join(other, 'agents/b'));
    expect(await faultsIn(other)).toEqual([expect.stringContaining('agents/b: is a symbolic link')]);
    expect(await faultsOf({ 'knowledge/k.yaml': 'name: K\nfile: ../../../../etc/passwd.txt\n' })).toEqual([
      expect.stringContaining('leads out of the folder'),
    ]);
  });
});

test('Windows: line ends and byte order marks make no difference', async () => {
  const unix = {
    [AGENT]: 'name: A\npublish: false\nfollowUpPrompt: |\n  One\n  two\n',
    'agents/a/prompt.md': 'One\n\ntwo\n',
  };
  const windows = Object.fromEntries(
    Object.entries(unix).map(([path, text]) => [path, `\uFEFF${text.replaceAll('\n', '\r\n')}`]),
  );
  const [plain, other] = [await entriesOf(unix), await entriesOf(windows)];
  expect(other[0]?.fields).toEqual(plain[0]?.fields);
  expect(plain[0]?.fields).toMatchObject({ systemPrompt: 'One\n\ntwo', followUpPrompt: 'One\ntwo\n' });
});

describe('names of files', () => {
  const none = new Set<string>();
  test.each([
    ['Support', 'support'],
    ['Support: 24/7', 'support-24-7'],
    ['../../x', 'x'],
    ['客服 代表', '客服-代表'],
    ['.hidden', 'hidden'],
    ['a\\b:c*d?', 'a-b-c-d'],
  ])('%s is %s', (name, slug) => {
    expect(slugOf(name, none)).toBe(slug);
  });

  test.each(['CON', 'nul', 'com1', '🤖', '..', '-', 'x'.repeat(150), '客'.repeat(150)])(
    '%s gets a mark, and one that a file system takes',
    (name) => {
      const slug = slugOf(name, none);
      expect(slug).toMatch(/(^|-)[0-9a-f]{6}$/);
      expect(Buffer.byteLength(slug)).toBeLessThan(100);
      expect(slugOf(name, none)).toBe(slug);
    },
  );

  test('two names that would make one are told apart', () => {
    const first = slugOf('Foo', none);
    const second = slugOf('foo!', new Set([first]));
    expect(second).toMatch(/^foo-[0-9a-f]{6}$/);
    expect(slugOf('foo?', new Set([first]))).not.toBe(second);
  });
});

test.each([
  'a\n\n  b\n',
  '\n\n',
  ' leading and trailing ',
  '\ttab\n\t\ttabs',
  '# no comment',
  '- no: list',
  'no',
  '12:30:00',
  '0x1F',
  '2026-01-01',
  '~',
  'null',
  '%YAML 1.2\n---\n',
  '...\n',
  'a\u2028b\u0085c\u0007',
  '\u{1F600} emoji',
  'line\r\rline',
  '>-\n x',
  `${'long '.repeat(500)}\n end`,
  '',
])('the text %j survives YAML', (text) => {
  expect(parse(yamlText({ text, list: [text], [text]: 1 }))).toEqual({ text, list: [text], [text]: 1 });
});
