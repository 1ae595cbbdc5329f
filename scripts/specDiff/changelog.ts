import type { Change } from './lines.ts';

/** A version in three numbers. */
type Version = [major: number, minor: number, patch: number];

/** The headings whose entries name what breaks: on the wire, or only names and types that generators write. */
const BREAKING = 'Breaking';
const BREAKING_CODE = 'Breaking for generated code';

type Entry = { heading: string; text: string };

/** What is known of a document that is compared: its `info.version`, and a digest of all of it but the version. */
export type Stated = { version: string; digest: string };

/**
 * Judges whether `info.version` and the changelog say what changed since the released document. Demanded are:
 *
 * - a higher version as soon as anything differs: its third number for texts, its second for all that `changes` has, its first
 *   when an entry stands under `### Breaking`;
 * - a section `## <version>` with an entry;
 * - an entry under `### Breaking` or `### Breaking for generated code` for each change that breaks, with all of the change's `names`
 *   in code quotes (`Agent.name` may be given as `Agent` and `name`, or the other way round; a count such as `12 fields` needs no quotes);
 * - a change for each entry under these headings: one that names none is stale or vague.
 *
 * @returns what is wrong, a sentence each.
 */
export function changelogFaults(changelog: string, released: Stated, current: Stated, changes: Change[]): string[] {
  if (released.digest === current.digest) return [];
  const entries = entriesOf(changelog, current.version);
  const breaking = entries.filter(({ heading }) => heading === BREAKING || heading === BREAKING_CODE);
  const level = entries.some(({ heading }) => heading === BREAKING) ? 0 : changes.length > 0 ? 1 : 2;
  const faults: string[] = [];
  if (!isHigher(current.version, released.version, level))
    faults.push(
      `info.version is ${current.version} and the released one is ${released.version}: ${['what breaks needs a higher first number', 'what changed needs a higher second number', 'changed texts need a higher version'][level]}.`,
    );
  if (entries.length === 0) faults.push(`spec/CHANGELOG.md has no entry under "## ${current.version}".`);
  for (const change of changes)
    if (change.kind !== 'addition' && !breaking.some((entry) => isNamed(change, entry)))
      faults.push(
        `No entry under "### ${BREAKING}" or "### ${BREAKING_CODE}" of ${current.version} names this change with ${namesShown(change)}: ${change.where}  ${change.what}`,
      );
  for (const entry of breaking)
    if (!changes.some((change) => isNamed(change, entry)))
      faults.push(`This entry of "### ${entry.heading}" names no change since ${released.version}: ${entry.text}`);
  return faults;
}

/**
 * Judges whether a change of the document, since a base revision, moved the version and the changelog: the version is not lower than that
 * of the base, it is higher when the base's version is released, and the section of the version is another than the base's.
 *
 * @returns what is wrong, a sentence each.
 */
export function baseFaults(
  base: Stated & { changelog: string; releasedVersion: string | undefined },
  current: Stated & { changelog: string },
): string[] {
  if (base.digest === current.digest) return [];
  const faults: string[] = [];
  if (isHigher(base.version, current.version, 2))
    faults.push(`info.version is ${current.version}, lower than ${base.version} at the base.`);
  if (base.releasedVersion === base.version && !isHigher(current.version, base.version, 2))
    faults.push(`info.version is ${current.version}, which is released: the document changed and needs a higher one.`);
  const [was, is] = [base, current].map(({ changelog }) => JSON.stringify(entriesOf(changelog, current.version)));
  if (was === is)
    faults.push(
      `The document changed, and spec/CHANGELOG.md has no other entries under "## ${current.version}" than the base.`,
    );
  return faults;
}

/** Whether a version is higher than another at one of its first numbers, up to `level` (0 is the first). */
function isHigher(version: string, than: string, level: number): boolean {
  const [one, other] = [numbersOf(version), numbersOf(than)];
  const first = one.findIndex((number, index) => number !== other[index]);
  return first >= 0 && first <= level && (one[first] ?? 0) > (other[first] ?? 0);
}

function numbersOf(version: string): Version {
  const [, ...numbers] = /^(\d+)\.(\d+)\.(\d+)$/.exec(version) ?? [];
  if (numbers.length !== 3) throw new Error(`info.version is "${version}": it needs three numbers`);
  return numbers.map(Number) as Version;
}

/** The entries of a version's section: the items of its lists, each with the heading that it stands under. */
function entriesOf(changelog: string, version: string): Entry[] {
  const section = changelog.split(/^## /m).find((part) => part.split('\n')[0]?.trim() === version) ?? '';
  return section.split(/^### /m).flatMap((part, index) => {
    const heading = index === 0 ? '' : (part.split('\n')[0]?.trim() ?? '');
    return [...part.matchAll(/^- (.*(?:\n {2}.*)*)/gm)].map(([, text = '']) => ({
      heading,
      text: text.replaceAll(/\s+/g, ' ').trim(),
    }));
  });
}

function isNamed({ names }: Change, { text }: Entry): boolean {
  const quoted = new Set(
    [...text.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => [code, ...code.split(/[\s.]+/), ...code.split(/\s+/)]),
  );
  return names.every((name) =>
    /^\d+ \w+$/.test(name)
      ? text.includes(name)
      : quoted.has(name) || name.split('.').every((part) => quoted.has(part)),
  );
}

function namesShown({ names }: Change): string {
  return names.map((name) => (/^\d+ \w+$/.test(name) ? name : `\`${name}\``)).join(', ');
}
