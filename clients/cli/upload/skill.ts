import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { UploadFile } from '../../sdk/index.ts';
import type { Register } from '../commands.ts';
import type { Context } from '../context.ts';
import { examples } from '../examples.ts';
import { MAX_SKILL_BYTES } from './limits.ts';
import { localFile, unreadable } from './localFiles.ts';
import { inPieces, showProgress } from './progress.ts';
import { zipSkillFolder } from './skillFolder.ts';

/** `skills upload`: a folder is zipped first; a `.zip`, a `.skill` and a lone Markdown file go as they are. */
export const register: Register = (command, context) => {
  command
    .argument('<path>', 'folder with a SKILL.md, .zip or .skill archive, or a SKILL.md alone; 10 MiB')
    .addHelpText('after', examples(['guildhall skills upload ./refunds', 'guildhall skills upload refunds.zip']))
    .action(async (path: string) => upload(context(), path));
};

async function upload(context: Context, shown: string): Promise<void> {
  const file = await fileOf(context, shown);
  const api = await context.api();
  const progress = showProgress(context.io, file.name, file.data.length);
  let sent = false;
  try {
    const skill = await api.call('uploadSkill', { file: { data: inPieces(file.data), name: file.name } });
    sent = true;
    progress.end(true);
    await context.print(skill);
  } finally {
    if (!sent) progress.end(false);
  }
}

async function fileOf(context: Context, shown: string): Promise<UploadFile & { data: Uint8Array<ArrayBuffer> }> {
  const path = resolve(context.io.cwd, shown);
  const isFolder = await stat(path).then(
    (about) => about.isDirectory(),
    (error: NodeJS.ErrnoException) => {
      throw unreadable(shown, error);
    },
  );
  if (isFolder) {
    const { name, data, files, leftOut } = await zipSkillFolder(shown, path);
    context.say(
      `Zipped ${files} ${files === 1 ? 'file' : 'files'}${leftOut.length > 0 ? `, left out ${leftOut.join(', ')}` : ''}.`,
    );
    return { name, data };
  }
  const file = await localFile(shown, context.io, MAX_SKILL_BYTES);
  const data = await readFile(file.path).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(shown, error);
  });
  return { name: file.name, data };
}
