import { FileFault, FileFaults, StateConflict } from './faults.ts';
import { readFileBelow, writeFileWhole } from './files/disk.ts';
import { parseYaml } from './files/yaml.ts';
import { isJsonObject } from './json.ts';
import type { Kind } from './kind.ts';
import { schemaFiles } from './schemas/editorSchemas.ts';

/** The file that makes a folder one of agents as code. */
export const PROJECT_FILE = 'guildhall.yaml';

const FORMAT_VERSION = 1;
const MAX_PROJECT_BYTES = 64 * 1024;

/** Whether the folder has a guildhall.yaml. Throws FileFaults when it cannot be used. */
export async function isProject(folder: string): Promise<boolean> {
  const bytes = await readFileBelow(folder, PROJECT_FILE, MAX_PROJECT_BYTES);
  if (bytes === undefined) return false;
  const { value, lineOf } = parseYaml(
    PROJECT_FILE,
    Buffer.from(bytes)
      .toString('utf8')
      .replace(/^\uFEFF/, ''),
  );
  const fault = (line: number | undefined, problem: string) =>
    new FileFaults([new FileFault(PROJECT_FILE, line, problem)]);
  if (!isJsonObject(value)) throw fault(undefined, `must say \`formatVersion: ${FORMAT_VERSION}\`.`);
  for (const name of Object.keys(value))
    if (name !== 'formatVersion') throw fault(lineOf([name]), `there is no field \`${name}\` here.`);
  if (value.formatVersion !== FORMAT_VERSION)
    throw fault(
      lineOf(['formatVersion']),
      `\`formatVersion\` is ${JSON.stringify(value.formatVersion ?? null)}, and this program reads ${FORMAT_VERSION}.`,
    );
  return true;
}

/** Throws StateConflict unless the folder has a guildhall.yaml. */
export async function demandProject(folder: string): Promise<void> {
  if (await isProject(folder)) return;
  throw new StateConflict(
    'no_project',
    `${folder} has no ${PROJECT_FILE}.`,
    'guildhall pull writes a workspace as files. --folder names another folder.',
  );
}

/** Writes guildhall.yaml where it is missing, and the schemas for editors where they are missing or old. */
export async function writeProject(folder: string, kinds: readonly Kind[]): Promise<void> {
  const files: Record<string, string> = schemaFiles(kinds);
  if (!(await isProject(folder)))
    files[PROJECT_FILE] =
      `# Agents as code: guildhall plan shows what differs, guildhall apply brings the workspace to these files.\nformatVersion: ${FORMAT_VERSION}\n`;
  for (const [path, text] of Object.entries(files)) {
    const present = await readFileBelow(folder, path, 4 * 1024 * 1024);
    if (present === undefined || Buffer.from(present).toString('utf8') !== text)
      await writeFileWhole(folder, path, Buffer.from(text));
  }
}
