import { baseFaults, changelogFaults, type Stated } from '../../../scripts/specDiff/changelog.ts';
import type { Change } from '../../../scripts/specDiff/lines.ts';

const released: Stated = { version: '1.0.0', digest: 'before' };
const shorter: Change = {
  kind: 'breaking',
  where: 'AgentCreate.name',
  what: 'maxLength 150 → 20 (in 1 request)',
  names: ['AgentCreate.name', 'maxLength', '20'],
};
const wider: Change = {
  kind: 'generated code',
  where: 'fields',
  what: 'format int64 is new (in 12 fields: …)',
  names: ['int64'],
};
const many: Change = {
  kind: 'breaking',
  where: 'fields',
  what: 'may be null now (in 12 fields: …)',
  names: ['12 fields', 'null'],
};
const longer: Change = { ...shorter, kind: 'addition', what: 'maxLength 150 → 200 (in 1 request)' };

/** The faults of a changelog whose section of the version has this text. */
function faultsOf(version: string, section: string, ...changes: Change[]): string[] {
  const changelog = `# Changelog\n\n## ${version}\n\n${section}\n## 1.0.0\n\n- All.\n`;
  return changelogFaults(changelog, released, { version, digest: 'after' }, changes);
}

const heading = '### Breaking for generated code\n\n';

describe('the version', () => {
  test('stays when nothing differs', () => {
    expect(changelogFaults('', released, released, [])).toEqual([]);
  });

  test.each([
    ['1.0.0', false],
    ['0.9.9', false],
    ['1.0.1', true],
    ['1.1.0', true],
    ['2.0.0', true],
  ])('texts alone: %s is enough: %s', (version, isEnough) => {
    expect(faultsOf(version, '- Texts.\n').filter((fault) => fault.startsWith('info.version'))).toHaveLength(
      isEnough ? 0 : 1,
    );
  });

  test.each([
    ['1.0.1', false],
    ['1.1.0', true],
    ['2.0.0', true],
  ])('an addition: %s is enough: %s', (version, isEnough) => {
    expect(faultsOf(version, '- More.\n', longer)).toHaveLength(isEnough ? 0 : 1);
  });

  test.each([
    ['1.1.0', false],
    ['2.0.0', true],
  ])('an entry under "Breaking": %s is enough: %s', (version, isEnough) => {
    const entry = '### Breaking\n\n- `AgentCreate.name`: `maxLength` is `20`.\n';
    expect(faultsOf(version, entry, shorter)).toHaveLength(isEnough ? 0 : 1);
  });

  test('has three numbers', () => {
    expect(() => faultsOf('1.1', '- Texts.\n')).toThrow('info.version is "1.1": it needs three numbers');
  });
});

describe('the section of the version', () => {
  test('has an entry', () => {
    expect(faultsOf('1.1.0', '### Changes\n')).toEqual(['spec/CHANGELOG.md has no entry under "## 1.1.0".']);
    expect(changelogFaults('', released, { version: '1.1.0', digest: 'after' }, [])).toHaveLength(1);
  });

  test.each([
    ['all names', '- `AgentCreate.name` has a `maxLength` of `20`.\n'],
    ['the place in two words', '- In `AgentCreate` the `name` has a `maxLength` of `20`.\n'],
    ['names within one quote', '- `AgentCreate.name`: `maxLength 20`.\n'],
    ['names on two lines', '- `AgentCreate.name` has a\n  `maxLength` of `20`.\n'],
  ])('names a breaking change: %s', (_how, entry) => {
    expect(faultsOf('1.1.0', heading + entry, shorter)).toEqual([]);
  });

  test.each([
    ['nothing at all', '- Names are shorter.\n'],
    ['only the schema', '- `AgentCreate` is stricter.\n'],
    ['only the field', '- `AgentCreate.name` is stricter.\n'],
    ['another value', '- `AgentCreate.name` has a `maxLength` of `30`.\n'],
    ['words without quotes', '- AgentCreate.name has a maxLength of 20.\n'],
  ])('does not name it with %s, and the entry is refused as well', (_what, entry) => {
    expect(faultsOf('1.1.0', heading + entry, shorter)).toEqual([
      expect.stringContaining(
        'names this change with `AgentCreate.name`, `maxLength`, `20`: AgentCreate.name  maxLength',
      ),
      expect.stringContaining('names no change since 1.0.0'),
    ]);
  });

  test('does not name it under another heading, or in the section of another version', () => {
    const entry = '- `AgentCreate.name` has a `maxLength` of `20`.\n';
    expect(faultsOf('1.1.0', `### Changes\n\n${entry}`, shorter)).toHaveLength(1);
    expect(faultsOf('1.1.0', `- More.\n\n## 1.0.5\n\n${heading}${entry}`, shorter)).toHaveLength(1);
  });

  test('has no entry for a change that is taken back', () => {
    expect(faultsOf('1.1.0', `${heading}- Every size is \`int64\`.\n- \`Gone\` was here.\n`, wider)).toEqual([
      'This entry of "### Breaking for generated code" names no change since 1.0.0: `Gone` was here.',
    ]);
  });

  test('says how many places a breaking change has, so that it does not cover later ones', () => {
    expect(faultsOf('1.1.0', `${heading}- In 12 fields \`null\` is new.\n`, many)).toEqual([]);
    expect(faultsOf('1.1.0', `${heading}- In 11 fields \`null\` is new.\n`, many)).toHaveLength(2);
  });
});

describe('against a base revision', () => {
  const changelog = '## 1.1.0\n\n- One.\n';
  const base = { version: '1.1.0', digest: 'a', changelog, releasedVersion: '1.0.0' };
  const current = { version: '1.1.0', digest: 'b', changelog: '## 1.1.0\n\n- One.\n- Two.\n' };

  test('a change with an entry of its own passes, and so does no change', () => {
    expect(baseFaults(base, current)).toEqual([]);
    expect(baseFaults(base, { ...base })).toEqual([]);
  });

  test('a change without a new entry fails', () => {
    expect(baseFaults(base, { ...current, changelog })).toEqual([expect.stringContaining('no other entries')]);
  });

  test('a released version does not change any more', () => {
    expect(baseFaults({ ...base, releasedVersion: '1.1.0' }, current)).toEqual([
      expect.stringContaining('which is released'),
    ]);
    const next = { ...current, version: '1.1.1', changelog: '## 1.1.1\n\n- Two.\n' };
    expect(baseFaults({ ...base, releasedVersion: '1.1.0' }, next)).toEqual([]);
  });

  test('a lower version fails', () => {
    expect(baseFaults(base, { ...current, version: '1.0.9' })).toEqual([
      expect.stringContaining('lower than 1.1.0'),
      expect.stringContaining('no other entries under "## 1.0.9"'),
    ]);
  });
});
