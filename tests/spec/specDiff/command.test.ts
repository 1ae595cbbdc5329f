import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'guildhall-diff-'));
  cpSync(join(import.meta.dirname, '../rules/base'), join(folder, 'spec'), { recursive: true });
  edit('openapi.yaml', /version: .*/, 'version: 1.0.0');
  git('init', '--quiet');
  git('commit', '--quiet', '--allow-empty', '--message', 'nothing');
  git('tag', 'empty');
  git('add', '.');
  git('commit', '--quiet', '--message', 'document');
});

afterEach(() => rmSync(folder, { recursive: true }));

function git(...args: string[]): void {
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], { cwd: folder, stdio: 'pipe' });
}

function edit(name: string, from: string | RegExp, to: string): void {
  const file = join(folder, 'spec', name);
  const text = readFileSync(file, 'utf8');
  expect(text).toMatch(from);
  writeFileSync(file, text.replace(from, to));
}

function specDiff(...args: string[]): Promise<{ code: number; output: string }> {
  const script = join(import.meta.dirname, '../../../scripts/specDiff.ts');
  return new Promise((done) => {
    execFile(process.execPath, [script, ...args], { cwd: folder }, (error, stdout, stderr) =>
      done({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
}

const shorter = () => edit('schemas/agents/AgentCreate.yaml', 'maxLength: 150', 'maxLength: 15');

test('a revision: ends with 0 when nothing differs, when there is no document, and with 2 when there is no such revision', async () => {
  expect(await specDiff('HEAD')).toEqual({
    code: 0,
    output: '0 breaking since HEAD\n0 breaking for generated code since HEAD\n0 additions since HEAD\n',
  });
  expect((await specDiff('empty')).code).toBe(0);
  expect((await specDiff('no-such-revision')).code).toBe(2);
});

test('a revision: ends with 1 on a breaking change, names it, and asks for the changelog', async () => {
  shorter();
  const { code, output } = await specDiff('HEAD');
  expect(code).toBe(1);
  expect(output).toContain('1 breaking since HEAD:\n  AgentCreate.name  maxLength 150 → 15 (in 1 request)\n');
  expect(output).toContain('FAULT The document changed, and spec/CHANGELOG.md has no other entries under "## 1.0.0"');
});

test('a release: the next change needs a version and an entry that names it, and is then released', async () => {
  expect((await specDiff('--release')).output).toContain('spec/released.json is version 1.0.0');
  expect((await specDiff()).code).toBe(0);
  shorter();
  const silent = await specDiff();
  expect(silent.code).toBe(1);
  expect(silent.output).toContain('FAULT info.version is 1.0.0 and the released one is 1.0.0');
  expect((await specDiff('--release')).code).toBe(1);
  edit('openapi.yaml', 'version: 1.0.0', 'version: 2.0.0');
  const entry = '- `AgentCreate.name` has a `maxLength` of `15`.';
  writeFileSync(join(folder, 'spec/CHANGELOG.md'), `## 2.0.0\n\n### Breaking\n\n${entry}\n`);
  expect(await specDiff()).toMatchObject({ code: 0 });
  expect(await specDiff('HEAD')).toMatchObject({ code: 0 });
  expect((await specDiff('--release')).output).toContain('spec/released.json is version 2.0.0');
  expect((await specDiff()).output).toContain('0 breaking since 2.0.0');
});
