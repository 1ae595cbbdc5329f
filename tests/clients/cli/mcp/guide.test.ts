import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { parse } from 'yaml';
import { commandRows } from '../../../../clients/cli/commands.ts';
import { guideState, removeGuide, writeGuide } from '../../../../clients/cli/guide/file.ts';
import { sealed } from '../../../../clients/cli/guide/seal.ts';
import { GUIDE_TEXT, guideFile } from '../../../../clients/cli/guide/text.ts';
import type { GuidePlace } from '../../../../clients/cli/mcp/targets.ts';
import { commandGroups } from '../../../../generated/commands.ts';
import tools from '../../../../generated/tools.json' with { type: 'json' };

const KINDS: GuidePlace['kind'][] = ['skill', 'cursor-rule', 'vscode-instructions'];

function head(text: string): Record<string, unknown> {
  const yaml = /^---\n([\s\S]*?)\n---\n\n# Guildhall\n/.exec(text)?.[1];
  if (!yaml) throw new Error('no head');
  return parse(yaml);
}

/** The areas of the map: the group of commands, the prefix of the tools, the words. */
function areas(): { group: string; tools: string; verbs: string[] }[] {
  const lines = GUIDE_TEXT.split('## Areas\n\n')[1]?.split('\n') ?? [];
  return lines.filter(Boolean).map((line) => {
    const [, group = '', prefix, , verbs = ''] =
      /^- `([a-z-]+)`(?: \(tools: ([a-z_]+)__…\))?: ([^.]+)\.(?: (.*))?$/.exec(line) ?? [];
    return { group, tools: prefix ?? group.replaceAll('-', '_'), verbs: verbs.split(', ').filter(Boolean) };
  });
}

describe('the text', () => {
  test('takes at most 2,000 tokens in each dress', () => {
    const sizes = KINDS.map((kind) => encode(guideFile(kind)).length);
    expect(sizes.filter((size) => size > 2_000 || size < 1_000)).toEqual([]);
  });

  test('has the head that its readers know: of a skill, of a rule that an agent asks for, of instructions without a pattern', () => {
    const { name, description, ...others } = head(guideFile('skill'));
    expect([name, others]).toEqual(['guildhall', {}]);
    // https://agentskills.io/specification: at most 1024 characters
    expect(String(description).length).toBeLessThan(1024);
    expect(head(guideFile('cursor-rule'))).toEqual({ description, alwaysApply: false });
    expect(head(guideFile('vscode-instructions'))).toEqual({ name: 'Guildhall', description });
  });

  test('the map has every area with all its commands', () => {
    const expected = Object.entries(commandGroups).map(([group, { commands }]) => [
      group,
      commands.map(({ words }) => words.join(' ')).filter(Boolean),
    ]);
    expect(areas().map(({ group, verbs }) => [group, verbs])).toEqual(expected);
  });

  test('the tools of each area have the names that the map says', () => {
    const prefixes = new Set(tools.map(({ tool }) => tool.name.split('__')[0]));
    expect(new Set(areas().map((area) => area.tools))).toEqual(prefixes);
  });

  test('every command that it names exists', () => {
    const generated = Object.entries(commandGroups).flatMap(([group, { commands }]) =>
      commands.map(({ words }) => [group, ...words].join(' ')),
    );
    const known = new Set([...generated, ...commandRows.map(({ words }) => words.join(' '))]);
    const groups = new Set([...known].map((name) => name.split(' ')[0]));
    const text = GUIDE_TEXT.split('## Areas')[0] ?? '';
    const named = [...text.matchAll(/`(guildhall )?([a-z-]+)(?: ([a-z-]+))?[^`]*`/g)]
      // A group alone stands for its area, and other words in code are fields.
      .filter(([, program, first = '', second]) => program || (second && groups.has(first)))
      .map(([, , first = '', second]) => [first, `${first} ${second}`]);
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter((names) => !names.some((name) => known.has(name)))).toEqual([]);
  });
});

describe('the file', () => {
  let folder: string;
  let place: GuidePlace;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'guildhall-guide-'));
    place = { path: join(folder, 'skills/guildhall/SKILL.md'), kind: 'skill' };
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const rewrite = (change: (text: string) => string) =>
    writeFileSync(place.path, change(readFileSync(place.path, 'utf8')));

  test('is written, recognised, and removed with its folder', async () => {
    expect(await guideState(place)).toBe('none');
    expect(await writeGuide(place, { dry: false })).toBe('written');
    expect([await guideState(place), await writeGuide(place, { dry: false })]).toEqual(['current', 'unchanged']);
    expect(await removeGuide(place, { dry: false })).toBe('removed');
    expect(() => readFileSync(join(folder, 'skills/guildhall'))).toThrow('ENOENT');
    expect(await removeGuide(place, { dry: false })).toBe('absent');
  });

  test('line ends of Windows, as version control makes them, are no change of its user', async () => {
    await writeGuide(place, { dry: false });
    rewrite((text) => text.replaceAll('\n', '\r\n'));
    expect(await guideState(place)).toBe('current');
  });

  test('one that another version wrote is replaced and removed', async () => {
    await writeGuide(place, { dry: false });
    writeFileSync(place.path, sealed('---\nname: guildhall\n---\n\nOlder.\n\n', '0.9.0').replaceAll('\n', '\r\n'));
    expect(await guideState(place)).toBe('old');
    expect(await writeGuide(place, { dry: true })).toBe('updated');
    expect(await guideState(place)).toBe('old');
    expect(await writeGuide(place, { dry: false })).toBe('updated');
    expect(readFileSync(place.path, 'utf8')).toBe(guideFile('skill'));
  });

  test.each<[string, (text: string) => string]>([
    ['a word in it', (text) => text.replace('Deleting is final', 'Deleting is fine')],
    ['a line before it', (text) => `Mine.\n${text}`],
    ['a line behind it', (text) => `${text}Mine.\n`],
    ['another seal', (text) => text.replace(/[0-9a-f]{16} -->/, '0123456789abcdef -->')],
    ['another file', () => 'Mine.\n'],
  ])('one that its user changed stays: %s', async (_name, change) => {
    await writeGuide(place, { dry: false });
    // Such a guide is not the present one, else it would be recognised by its text.
    writeFileSync(place.path, sealed('An older one. Deleting is final.\n\n', '0.9.0'));
    rewrite(change);
    const text = readFileSync(place.path, 'utf8');
    expect([
      await guideState(place),
      await writeGuide(place, { dry: false }),
      await removeGuide(place, { dry: false }),
    ]).toEqual(['changed', 'kept', 'kept']);
    expect(readFileSync(place.path, 'utf8')).toBe(text);
  });
});
